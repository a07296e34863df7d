import type { ClassicHistogram } from '../histogram/classic-histogram.ts';

/** Buckets per octave: neighboring edges are less than 0.8 % apart. */
const PER_OCTAVE = 128;
const OCTAVES = 53;
const SECONDS_PER_NS = 1e-9;

/**
 * Counts of durations in integer nanoseconds, in logarithmic buckets of fixed number: what stays of a run's gaps while
 * it runs, and what its percentiles come from when there are too many gaps to hold. Below 128 ns every duration has a
 * bucket of its own; above, 128 buckets per octave, up to 2^53 ns. Count, mean, deviation and extremes are exact.
 */
export class GapHistogram {
  readonly #counts = new Float64Array(PER_OCTAVE * (OCTAVES - 6));
  #n = 0;
  #mean_ns = 0;
  #squares_ns2 = 0;
  #min_ns = Infinity;
  #max_ns = -Infinity;

  /** Counts one gap; it must be a whole number from 0 to 2^53 − 1 (the clock does not run backwards). */
  observe(gap_ns: number): void {
    const bucket = bucketOf(gap_ns);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#n += 1;
    const difference = gap_ns - this.#mean_ns;
    this.#mean_ns += difference / this.#n;
    this.#squares_ns2 += difference * (gap_ns - this.#mean_ns);
    if (gap_ns < this.#min_ns) this.#min_ns = gap_ns;
    if (gap_ns > this.#max_ns) this.#max_ns = gap_ns;
  }

  get n(): number {
    return this.#n;
  }

  /** Seconds; null when nothing was counted. */
  get mean(): number | null {
    return this.#n === 0 ? null : this.#mean_ns * SECONDS_PER_NS;
  }

  /** The sum of (gap − mean)², in seconds squared. */
  get sumOfSquares(): number {
    return this.#squares_ns2 * SECONDS_PER_NS * SECONDS_PER_NS;
  }

  /** Seconds; null when nothing was counted. */
  get min(): number | null {
    return this.#n === 0 ? null : this.#min_ns * SECONDS_PER_NS;
  }

  /** Seconds; null when nothing was counted. */
  get max(): number | null {
    return this.#n === 0 ? null : this.#max_ns * SECONDS_PER_NS;
  }

  /** The lower of the order statistics at a rank from 0 to 1, from the middle of its bucket: within 0.4 %. Seconds; null without values. */
  quantile(q: number): number | null {
    if (this.#n === 0) return null;
    const rank = Math.floor(q * (this.#n - 1)) + 1;
    let cumulative = 0;
    let bucket = 0;
    while ((cumulative += this.#counts[bucket] ?? 0) < rank) bucket += 1;
    const middle = (lastOf(bucket) + (bucket === 0 ? 0 : lastOf(bucket - 1) + 1)) / 2;
    return Math.min(Math.max(middle, this.#min_ns), this.#max_ns) / 1e9;
  }

  /** The same counts as a classic histogram in seconds: cumulative, without the empty buckets above the largest gap. */
  toClassic(): ClassicHistogram {
    const bounds: number[] = [];
    const counts: number[] = [];
    let cumulative = 0;
    for (let bucket = 0; bucket < this.#counts.length && cumulative < this.#n; bucket++) {
      cumulative += this.#counts[bucket] ?? 0;
      bounds.push(lastOf(bucket) * SECONDS_PER_NS);
      counts.push(cumulative);
    }
    return { bounds: [...bounds, Infinity], counts: [...counts, this.#n], sum: (this.mean ?? 0) * this.#n };
  }
}

/** Index of the bucket that holds a whole number of nanoseconds. */
function bucketOf(ns: number): number {
  if (ns < PER_OCTAVE) return ns;
  let octave = 0;
  let scaled = ns;
  if (scaled >= 2 ** 31) {
    // Bit operations see 32 bits only.
    octave = 24;
    scaled = Math.floor(scaled / 2 ** 24);
  }
  const shift = 24 - Math.clz32(scaled);
  return PER_OCTAVE * (octave + shift) + (scaled >>> shift);
}

/** The largest whole number of nanoseconds in a bucket. */
function lastOf(bucket: number): number {
  if (bucket < 2 * PER_OCTAVE) return bucket;
  const octave = Math.floor(bucket / PER_OCTAVE) - 1;
  return ((bucket % PER_OCTAVE) + PER_OCTAVE + 1) * 2 ** octave - 1;
}
