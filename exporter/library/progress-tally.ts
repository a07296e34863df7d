import type { PhaseName, RequestRecord } from '../../core/run/record.ts';
import type { RunEvents } from '../../core/run/run-output.ts';
import type { BenchmarkProgress } from './benchmark-options.ts';

const INTERVAL_MS = 1000;

/** Counts what happens in a phase, and reports it at an interval. */
export class ProgressTally implements RunEvents {
  readonly #now_ns: () => number;
  readonly #report: (progress: BenchmarkProgress) => void;
  readonly #timer: NodeJS.Timeout;
  #phase: PhaseName | null = null;
  #start_ns = 0;
  /** The cool-down begins before the measurement ends. */
  readonly #counts: Record<PhaseName, Counts> = { warmup: noCounts(), measure: noCounts(), cooldown: noCounts() };

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
  }

  requestSent(phase: PhaseName): void {
    this.#counts[phase].sent++;
  }

  requestEnded({ phase, outcome, output_tokens: tokens }: RequestRecord): void {
    const counts = this.#counts[phase];
    if (outcome !== 'ok') counts.failed++;
    else {
      counts.ok++;
      counts.outputTokens = counts.outputTokens === null || tokens === null ? null : counts.outputTokens + tokens;
    }
  }

  /** Reports the final counts. */
  stop(): void {
    clearInterval(this.#timer);
    this.#tick();
  }

  #tick(): void {
    if (this.#phase === null) return;
    const { sent, ok, failed, outputTokens } = this.#counts[this.#phase];
    this.#report({
      phase: this.#phase,
      elapsedSeconds: (this.#now_ns() - this.#start_ns) / 1e9,
      sent,
      ok,
      failed,
      inFlight: sent - ok - failed,
      outputTokens,
    });
  }
}

interface Counts {
  sent: number;
  ok: number;
  failed: number;
  outputTokens: number | null;
}

const noCounts = (): Counts => ({ sent: 0, ok: 0, failed: 0, outputTokens: 0 });
