import { sfc32 } from '../../core/stats/random.ts';

/** A drawing cannot tell more of them apart. */
export const MOST_KEPT = 200_000;
const FIRST_LENGTH = 1024;

/**
 * One latency of many requests, with the moments at which it was known: all, or a random choice of `most` that is the same
 * each time (reservoir sampling, Vitter's algorithm R), so that memory does not grow with the run.
 */
export class LatencySample {
  readonly #most: number;
  readonly #random = sfc32(1);
  #at = new Float32Array(FIRST_LENGTH);
  #values = new Float32Array(FIRST_LENGTH);
  #measured = new Uint8Array(FIRST_LENGTH);
  #seen = 0;
  #seenMeasured = 0;

  constructor(most = MOST_KEPT) {
    this.#most = most;
  }

  /** NaN: the request has none. */
  add(at_seconds: number, seconds: number, measured: boolean): void {
    if (Number.isNaN(seconds)) return;
    this.#seen += 1;
    if (measured) this.#seenMeasured += 1;
    const place = this.#seen <= this.#most ? this.#seen - 1 : Math.floor((this.#random() / 2 ** 32) * this.#seen);
    if (place >= this.#most) return;
    if (place >= this.#at.length) this.#grow();
    this.#at[place] = at_seconds;
    this.#values[place] = seconds;
    this.#measured[place] = Number(measured);
  }

  /** Requests that have the latency. */
  get requests(): number {
    return this.#seen;
  }

  /** Those of the measure phase. */
  get measuredRequests(): number {
    return this.#seenMeasured;
  }

  /** Of those that were kept. */
  get at_seconds(): Float32Array {
    return this.#at.subarray(0, this.#kept);
  }

  /** Seconds, beside `at_seconds`. */
  get values(): Float32Array {
    return this.#values.subarray(0, this.#kept);
  }

  /** Seconds of those of the measure phase that were kept, ascending. */
  sortedMeasured(): Float32Array {
    return this.values.filter((_, i) => this.#measured[i] === 1).sort();
  }

  get #kept(): number {
    return Math.min(this.#seen, this.#most);
  }

  #grow(): void {
    const length = Math.min(this.#most, 2 * this.#at.length);
    this.#at = grown(this.#at, new Float32Array(length));
    this.#values = grown(this.#values, new Float32Array(length));
    this.#measured = grown(this.#measured, new Uint8Array(length));
  }
}

function grown<Numbers extends Float32Array | Uint8Array>(old: Numbers, longer: Numbers): Numbers {
  longer.set(old);
  return longer;
}
