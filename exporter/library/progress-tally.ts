import type { PhaseName, RequestRecord } from '../../core/run/record.ts';
import type { RunObserver } from '../../core/run/run-observer.ts';
import type { BenchmarkProgress } from './benchmark-options.ts';

const INTERVAL_MS = 1000;

/** Counts what happens in a phase, and reports it at an interval. */
export class ProgressTally implements RunObserver {
  readonly #now_ns: () => number;
  readonly #report: (progress: BenchmarkProgress) => void;
  readonly #timer: NodeJS.Timeout;
  #phase: PhaseName | null = null;
  #start_ns = 0;
  #sent = 0;
  #ok = 0;
  #failed = 0;
  #outputTokens: number | null = 0;

  /** `now_ns` is the run's monotonic clock: nanoseconds since its start. */
  constructor(now_ns: () => number, report: (progress: BenchmarkProgress) => void) {
    this.#now_ns = now_ns;
    this.#report = report;
    this.#timer = setInterval(() => this.#tick(), INTERVAL_MS);
    this.#timer.unref();
  }

  phaseStarted(phase: PhaseName, at_ns: number): void {
    this.#phase = phase;
    this.#start_ns = at_ns;
    this.#sent = this.#ok = this.#failed = this.#outputTokens = 0;
  }

  requestSent(): void {
    this.#sent++;
  }

  requestEnded({ outcome, output_tokens: tokens }: RequestRecord): void {
    if (outcome !== 'ok') this.#failed++;
    else {
      this.#ok++;
      this.#outputTokens = this.#outputTokens === null || tokens === null ? null : this.#outputTokens + tokens;
    }
  }

  /** Reports the final counts. */
  stop(): void {
    clearInterval(this.#timer);
    this.#tick();
  }

  #tick(): void {
    if (this.#phase === null) return;
    this.#report({
      phase: this.#phase,
      elapsedSeconds: (this.#now_ns() - this.#start_ns) / 1e9,
      sent: this.#sent,
      ok: this.#ok,
      failed: this.#failed,
      inFlight: this.#sent - this.#ok - this.#failed,
      outputTokens: this.#outputTokens,
    });
  }
}
