import type { PhaseName, RequestRecord } from '../../../core/run/record.ts';
import type { ClientHealth } from '../../../core/run/result.ts';
import { clientVerdict } from '../client-health.ts';
import { LatencyBins } from '../latency-bins.ts';
import type { RunObserver } from '../observer.ts';

const SAMPLES_PER_VERDICT = 100;

/**
 * What the measuring costs when several threads do it: the event-loop delay is that of the worker that is worst off, the
 * CPU time is that of the whole process, and both are judged by the inter-token latency of all requests.
 */
export class WorkersHealth implements RunObserver {
  readonly #delays: readonly LatencyBins[];
  readonly #interTokenLatencies = new LatencyBins();
  readonly #observers: readonly RunObserver[];
  #cpuAtStart: NodeJS.CpuUsage | null = null;
  #cpuSeconds: number | null = null;
  #saturated = false;

  /** The observers are told of a changed verdict. */
  constructor(workers: number, observers: readonly RunObserver[]) {
    this.#delays = Array.from({ length: workers }, () => new LatencyBins());
    this.#observers = observers;
  }

  /** Hears what one worker tells of itself. */
  ofWorker(worker: number): RunObserver {
    return { eventLoopDelay: (delay_ns) => this.#sample(this.#delays[worker], delay_ns) };
  }

  phaseStarted(phase: PhaseName): void {
    if (phase === 'measure') this.#cpuAtStart = process.cpuUsage();
  }

  phaseEnded(phase: PhaseName): void {
    if (phase !== 'measure' || this.#cpuAtStart === null) return;
    const { user, system } = process.cpuUsage(this.#cpuAtStart);
    this.#cpuSeconds = (user + system) / 1e6;
    this.#judge();
  }

  requestEnded(record: RequestRecord): void {
    const { phase, outcome, first_content_ns: first, last_content_ns: last, output_tokens: tokens } = record;
    if (phase !== 'measure' || outcome !== 'ok' || first === null || last === null || tokens === null) return;
    if (tokens > 1) this.#interTokenLatencies.add((last - first) / (tokens - 1));
  }

  result(): ClientHealth {
    const worst = this.#delays.toSorted((a, b) => (b.quantile(0.99) ?? -1) - (a.quantile(0.99) ?? -1))[0];
    const delay_ns = worst?.quantile(0.99) ?? null;
    const max_ns = Math.max(...this.#delays.map(({ max }) => max ?? -1));
    return {
      ...clientVerdict(delay_ns, this.#interTokenLatencies.quantile(0.5)),
      event_loop_delay_p99_seconds: delay_ns === null ? null : delay_ns / 1e9,
      event_loop_delay_max_seconds: max_ns < 0 ? null : max_ns / 1e9,
      cpu_seconds: this.#cpuSeconds,
    };
  }

  #sample(delays: LatencyBins | undefined, delay_ns: number): void {
    if (delays === undefined) return;
    delays.add(delay_ns);
    if (delays.count % SAMPLES_PER_VERDICT === 0) this.#judge();
  }

  #judge(): void {
    const saturated = this.result().verdict === 'saturated';
    if (saturated === this.#saturated) return;
    this.#saturated = saturated;
    for (const observer of this.#observers) observer.clientSaturated?.(saturated);
  }
}
