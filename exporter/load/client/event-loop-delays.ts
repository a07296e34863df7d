import { LatencyBins } from './latency-bins.ts';

/** Interval at which the delay of a loop is sampled. */
export const SAMPLE_EVERY_MS = 10;
const SAMPLE_EVERY_NS = SAMPLE_EVERY_MS * 1e6;

/**
 * How late an event loop was, over the time of the measure phase. A loop that is blocked for long yields one sample
 * instead of many: the missed samples are filled in, each one period less late than the one before, so that every share
 * is a share of time, and a quantile is that of the error that a chunk at any instant would have had.
 */
export class EventLoopDelays {
  readonly #overTime = new LatencyBins();
  readonly #pauses = new LatencyBins();

  /** A timer of the period `SAMPLE_EVERY_MS` ran this late; not negative. */
  add(delay_ns: number): void {
    this.#pauses.add(delay_ns);
    for (let late_ns = delay_ns; late_ns >= 0; late_ns -= SAMPLE_EVERY_NS) this.#overTime.add(late_ns);
  }

  /** Samples that the loop took. */
  get count(): number {
    return this.#pauses.count;
  }

  /** Null without samples. */
  get p99_ns(): number | null {
    return this.#overTime.quantile(0.99);
  }

  get max_ns(): number | null {
    return this.#pauses.max;
  }

  /** Share of the time during which the loop was later than the limit; 0 without samples. */
  shareLaterThan(delay_ns: number): number {
    return this.#overTime.count === 0 ? 0 : this.#overTime.countAbove(delay_ns) / this.#overTime.count;
  }

  /** Number of separate periods during which it was later than the limit. */
  pausesLongerThan(delay_ns: number): number {
    return this.#pauses.countAbove(delay_ns);
  }
}
