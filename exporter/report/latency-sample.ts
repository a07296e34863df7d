import { sfc32 } from '../../core/stats/seeded-random.ts';

/** A chart cannot resolve more values. */
export const MAX_KEPT = 200_000;
const FIRST_LENGTH = 1024;

/**
 * One latency of many requests, with the time at which each became known: all, or a deterministic random sample of
 * `most` (reservoir sampling, Vitter's algorithm R), so that memory does not grow with the run.
 */
export class LatencySample {
  readonly #most: number;
  readonly #random = sfc32(1);
  #at = new Float32Array(FIRST_LENGTH);
  #values = new Float32Array(FIRST_LENGTH);
  #measured = new Uint8Array(FIRST_LENGTH);
  #seen = 0;
  #seenMeasured = 0;

  constructor(most = MAX_KEPT) {
    this.#most = most;
  }

  /** NaN if the request has no value. */
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

  /** Requests of the measure phase. */
  get measuredRequests(): number {
    return this.#seenMeasured;
  }

  /** Of the kept requests. */
  get at_seconds(): Float32Array {
    return this.#at.subarray(0, this.#kept);
  }

  /** Seconds, beside `at_seconds`. */
  get values(): Float32Array {
    return this.#values.subarray(0, this.#kept);
  }

  /** Seconds of the kept requests of the measure phase, ascending. */
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
