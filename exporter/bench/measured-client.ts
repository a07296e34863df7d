import { interTokenLatencySeconds } from '../../core/measures/measures.ts';
import type { PhaseName, RequestRecord } from '../../core/run/record.ts';
import type { ClientHealth } from '../../core/run/result.ts';
import { clientVerdict } from './client-verdict.ts';
import type { EventLoopDelays } from './event-loop-delays.ts';
import { LatencyBins } from './latency-bins.ts';
import type { RunObserver } from './observer.ts';

/** While the phase lasts it is judged again after so many samples. */
const SAMPLES_PER_VERDICT = 100;

/**
 * What the measuring of a measure phase costs: the CPU time of this process, how late event loops were, and the median
 * inter-token latency that they are judged by. Who samples the loops is for the subclass.
 */
export abstract class MeasuredClient implements RunObserver {
  readonly #interTokenLatencies = new LatencyBins();
  protected readonly observers: readonly RunObserver[];
  #cpuAtStart: NodeJS.CpuUsage | null = null;
  #cpuSeconds: number | null = null;
  #saturated = false;

  /** The observers are told of a changed verdict. */
  constructor(observers: readonly RunObserver[]) {
    this.observers = observers;
  }

  /** Of each event loop that makes the load. */
  protected abstract get loops(): readonly EventLoopDelays[];

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
    if (record.phase !== 'measure' || record.outcome !== 'ok') return;
    const seconds = interTokenLatencySeconds(record);
    if (seconds !== null) this.#interTokenLatencies.add(seconds * 1e9);
  }

  /** Judged by the loop that is worst off. */
  result(): ClientHealth {
    const [worst] = this.loops.toSorted((a, b) => (b.p99_ns ?? -1) - (a.p99_ns ?? -1));
    if (worst === undefined) throw new Error('a load is made by one event loop at least');
    const max_ns = Math.max(...this.loops.map((loop) => loop.max_ns ?? -1));
    return {
      ...clientVerdict(worst, this.#interTokenLatencies.quantile(0.5)),
      event_loop_delay_p99_seconds: worst.p99_ns === null ? null : worst.p99_ns / 1e9,
      event_loop_delay_max_seconds: max_ns < 0 ? null : max_ns / 1e9,
      cpu_seconds: this.#cpuSeconds,
    };
  }

  protected sampled(loop: EventLoopDelays, delay_ns: number): void {
    loop.add(delay_ns);
    if (loop.count % SAMPLES_PER_VERDICT === 0) this.#judge();
  }

  #judge(): void {
    const saturated = this.result().verdict === 'saturated';
    if (saturated === this.#saturated) return;
    this.#saturated = saturated;
    for (const observer of this.observers) observer.clientSaturated?.(saturated);
  }
}
