import { LatencyBins } from './latency-bins.ts';

/** How often a loop is asked how late it is. */
export const SAMPLE_EVERY_MS = 10;
const SAMPLE_EVERY_NS = SAMPLE_EVERY_MS * 1e6;

/**
 * How late an event loop was, over the time of the measure phase. A loop that is held up for long answers one sample where
 * it should have answered many: those that it missed are filled in, each a period less late than the one before, so that
 * every share is one of time, and a quantile is that of the error which a chunk at any instant would have had.
 */
export class EventLoopDelays {
  readonly #overTime = new LatencyBins();
  readonly #pauses = new LatencyBins();

  /** A timer of the period `SAMPLE_EVERY_MS` ran so late; not negative. */
  add(delay_ns: number): void {
    this.#pauses.add(delay_ns);
    for (let late_ns = delay_ns; late_ns >= 0; late_ns -= SAMPLE_EVERY_NS) this.#overTime.add(late_ns);
  }

  /** Samples that the loop answered. */
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

  /** Share of the time at which the loop was later than that; 0 without samples. */
  shareLaterThan(delay_ns: number): number {
    return this.#overTime.count === 0 ? 0 : this.#overTime.countAbove(delay_ns) / this.#overTime.count;
  }

  /** How many separate times it was later than that. */
  pausesLongerThan(delay_ns: number): number {
    return this.#pauses.countAbove(delay_ns);
  }
}
