import { percentile } from '../../../core/stats/percentiles.ts';

const NS_PER_SECOND = 1e9;

/** Values kept per second: enough for a percentile on a live display. */
const MAX_PER_SECOND = 1024;

/** The values of the last seconds of a run, for a display; memory is bounded. */
export class RecentValues {
  readonly #seconds: number;
  readonly #kept = new Map<number, { seen: number; values: number[] }>();

  /** Keeps the values of this many whole seconds. */
  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /** `at_ns` must be within the kept seconds or after them. */
  add(at_ns: number, value: number): void {
    const second = Math.floor(at_ns / NS_PER_SECOND);
    let bucket = this.#kept.get(second);
    if (bucket === undefined) {
      bucket = { seen: 0, values: [] };
      this.#kept.set(second, bucket);
      for (const old of this.#kept.keys()) if (old <= second - this.#seconds) this.#kept.delete(old);
    }
    bucket.seen += 1;
    if (bucket.values.length < MAX_PER_SECOND) bucket.values.push(value);
    // Each later one takes the place of an earlier one with the chance that keeps all equally likely.
    else if (Math.random() * bucket.seen < MAX_PER_SECOND) {
      bucket.values[Math.floor(Math.random() * MAX_PER_SECOND)] = value;
    }
  }

  /** Number of values in the last whole seconds, including the current one. */
  count(now_ns: number, seconds: number): number {
    return this.#last(now_ns, seconds).reduce((sum, bucket) => sum + (bucket?.seen ?? 0), 0);
  }

  /** A percentile over the last whole seconds, including the current one; null without values. */
  quantile(now_ns: number, seconds: number, q: number): number | null {
    const values = this.#last(now_ns, seconds).flatMap((bucket) => bucket?.values ?? []);
    return values.length === 0 ? null : percentile(Float64Array.from(values).sort(), q);
  }

  /** The median of each of the last whole seconds, the oldest first; null for those without values. */
  medians(now_ns: number, seconds: number): (number | null)[] {
    return this.#last(now_ns, seconds).map((bucket) =>
      bucket === undefined ? null : percentile(Float64Array.from(bucket.values).sort(), 0.5),
    );
  }

  clear(): void {
    this.#kept.clear();
  }

  #last(now_ns: number, seconds: number): ({ seen: number; values: number[] } | undefined)[] {
    const now = Math.floor(now_ns / NS_PER_SECOND);
    return Array.from({ length: seconds }, (_, i) => this.#kept.get(now - seconds + 1 + i));
  }
}
