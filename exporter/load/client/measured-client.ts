import { interTokenLatencySeconds } from '../../../core/measures/measures.ts';
import type { PhaseName, RequestRecord } from '../../../core/run/record.ts';
import type { ClientHealth } from '../../../core/run/result.ts';
import { clientVerdict } from './client-verdict.ts';
import type { EventLoopDelays } from './event-loop-delays.ts';
import { LatencyBins } from './latency-bins.ts';
import { joinedEvents, type RunEvents } from '../../../core/run/run-output.ts';

/** During the phase, the verdict is updated after this many samples. */
const SAMPLES_PER_VERDICT = 100;

/**
 * The cost of the measurement in a measure phase: the CPU time of this process, how late event loops were, and the
 * median inter-token latency that the delays are compared with. The subclass samples the loops.
 */
export abstract class MeasuredClient implements RunEvents {
  readonly #interTokenLatencies = new LatencyBins();
  protected readonly events: Required<RunEvents>;
  #cpuAtStart: NodeJS.CpuUsage | null = null;
  #cpuSeconds: number | null = null;
  #saturated = false;

  /** The observers are notified when the verdict changes. */
  constructor(observers: readonly RunEvents[]) {
    this.events = joinedEvents(observers);
  }

  /** One per event loop that generates the load. */
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

  /** The event loop with the largest delays decides. */
  result(): ClientHealth {
    const [worst] = this.loops.toSorted((a, b) => (b.p99_ns ?? -1) - (a.p99_ns ?? -1));
    if (worst === undefined) throw new Error('a load requires at least one event loop');
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
    this.events.clientSaturated(saturated);
  }
}
