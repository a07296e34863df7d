import type { PhaseName, RequestRecord } from '../../core/run/record.ts';
import type { ClientHealth } from '../../core/run/result.ts';
import { LatencyBins } from './latency-bins.ts';
import { monotonicNow_ns } from './monotonic-clock.ts';
import type { RunObserver } from './observer.ts';

/** The share of the median inter-token latency that the loop may be late by. */
const ALLOWED_SHARE = 0.05;
/** Node's timers count whole milliseconds, so an idle loop is late by up to two of them. */
export const TIMER_RESOLUTION_NS = 2e6;
const SAMPLE_EVERY_MS = 10;
const SAMPLES_PER_VERDICT = 100;

/**
 * Measures what the measuring costs: how late this process runs its timers during the measure phase, its CPU time, and
 * the median inter-token latency that both are judged by.
 */
export class ClientHealthMonitor implements RunObserver {
  readonly #delays = new LatencyBins();
  readonly #interTokenLatencies = new LatencyBins();
  readonly #observers: readonly RunObserver[];
  #timer: NodeJS.Timeout | null = null;
  #expected_ns = 0;
  #cpuAtStart: NodeJS.CpuUsage | null = null;
  #cpuSeconds: number | null = null;
  #saturated = false;

  /** The observers are told of each sample, and of a changed verdict. */
  constructor(observers: readonly RunObserver[]) {
    this.#observers = observers;
  }

  phaseStarted(phase: PhaseName): void {
    if (phase !== 'measure') return;
    this.#cpuAtStart = process.cpuUsage();
    this.#arm();
  }

  phaseEnded(phase: PhaseName): void {
    if (phase !== 'measure' || this.#cpuAtStart === null) return;
    const { user, system } = process.cpuUsage(this.#cpuAtStart);
    this.#cpuSeconds = (user + system) / 1e6;
    if (this.#timer !== null) clearTimeout(this.#timer);
    // A loop that was blocked until now never got to the sample that would have told.
    this.#sample();
    this.#judge();
  }

  requestEnded(record: RequestRecord): void {
    const { phase, outcome, first_content_ns: first, last_content_ns: last, output_tokens: tokens } = record;
    if (phase !== 'measure' || outcome !== 'ok' || first === null || last === null || tokens === null) return;
    if (tokens > 1) this.#interTokenLatencies.add((last - first) / (tokens - 1));
  }

  result(): ClientHealth {
    const delay_ns = this.#delays.quantile(0.99);
    const max_ns = this.#delays.max;
    return {
      ...clientVerdict(delay_ns, this.#interTokenLatencies.quantile(0.5)),
      event_loop_delay_p99_seconds: delay_ns === null ? null : delay_ns / 1e9,
      event_loop_delay_max_seconds: max_ns === null ? null : max_ns / 1e9,
      cpu_seconds: this.#cpuSeconds,
    };
  }

  #arm(): void {
    this.#expected_ns = monotonicNow_ns() + SAMPLE_EVERY_MS * 1e6;
    this.#timer = setTimeout(() => {
      this.#sample();
      this.#arm();
    }, SAMPLE_EVERY_MS);
    this.#timer.unref();
  }

  #sample(): void {
    const delay_ns = Math.max(monotonicNow_ns() - this.#expected_ns, 0);
    this.#delays.add(delay_ns);
    for (const observer of this.#observers) observer.eventLoopDelay?.(delay_ns);
    if (this.#delays.count % SAMPLES_PER_VERDICT === 0) this.#judge();
  }

  #judge(): void {
    const saturated = this.result().verdict === 'saturated';
    if (saturated === this.#saturated) return;
    this.#saturated = saturated;
    for (const observer of this.#observers) observer.clientSaturated?.(saturated);
  }
}

/**
 * Saturated when the 99th percentile of the event-loop delay is more than 5 % of the median inter-token latency, and more
 * than the timer can resolve.
 */
export function clientVerdict(
  delayP99_ns: number | null,
  interTokenLatencyP50_ns: number | null,
): Pick<ClientHealth, 'verdict' | 'why'> {
  if (delayP99_ns === null) return { verdict: 'unknown', why: 'the event-loop delay was not sampled' };
  if (interTokenLatencyP50_ns === null) {
    return { verdict: 'unknown', why: 'no request has an inter-token latency to judge the event-loop delay by' };
  }
  const allowed_ns = ALLOWED_SHARE * interTokenLatencyP50_ns;
  if (delayP99_ns <= Math.max(allowed_ns, TIMER_RESOLUTION_NS)) return { verdict: 'ok', why: null };
  const limit =
    allowed_ns >= TIMER_RESOLUTION_NS
      ? `5 % of p50 inter-token latency ${milliseconds(interTokenLatencyP50_ns)}`
      : `${milliseconds(TIMER_RESOLUTION_NS)}, the timer's resolution (5 % of p50 inter-token latency is ${milliseconds(allowed_ns)})`;
  return { verdict: 'saturated', why: `p99 event-loop delay ${milliseconds(delayP99_ns)} > ${limit}` };
}

function milliseconds(ns: number): string {
  return `${Number((ns / 1e6).toPrecision(3))} ms`;
}
