/** Bins per octave: a quantile is off by at most half a bin, about 1 %. */
const BINS_PER_OCTAVE = 32;
const OCTAVES = 64;

/** Counts of positive values in logarithmic bins: memory use does not depend on the number of values. */
export class LatencyBins {
  readonly #counts = new Float64Array(BINS_PER_OCTAVE * OCTAVES);
  #count = 0;
  #max = 0;

  /** Values below 1 count as 1. */
  add(value: number): void {
    const bin = binOf(value);
    this.#counts[bin] = (this.#counts[bin] ?? 0) + 1;
    this.#count++;
    if (value > this.#max) this.#max = value;
  }

  get count(): number {
    return this.#count;
  }

  /** The largest value, exact; null when there is none. */
  get max(): number | null {
    return this.#count === 0 ? null : this.#max;
  }

  /** Number of values in bins above that of the given value: within a bin (2 %) no value counts as larger. */
  countAbove(value: number): number {
    let above = 0;
    for (let bin = binOf(value) + 1; bin < this.#counts.length; bin++) above += this.#counts[bin] ?? 0;
    return above;
  }

  /** The center of the bin with the value of rank ⌈q·n⌉; null when there is none. */
  quantile(q: number): number | null {
    let rank = Math.max(Math.ceil(q * this.#count), 1);
    for (let bin = 0; bin < this.#counts.length && this.#count > 0; bin++) {
      rank -= this.#counts[bin] ?? 0;
      if (rank <= 0) return Math.min(2 ** ((bin + 0.5) / BINS_PER_OCTAVE), this.#max);
    }
    return null;
  }
}

function binOf(value: number): number {
  return Math.floor(Math.log2(Math.max(value, 1)) * BINS_PER_OCTAVE);
}
