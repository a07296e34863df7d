/** One series of a counter or gauge. `created_s` is its creation as Unix time; null: the page does not report it. */
export class Scalar {
  value = 0;
  readonly created_s: number | null;

  constructor(created_s: number | null) {
    this.created_s = created_s;
  }

  add(amount: number): void {
    this.value += amount;
  }
}

/** One series of a summary without quantiles: how many, and their sum. */
export class Summary {
  count = 0;
  sum = 0;
  readonly created_s: number | null;

  constructor(created_s: number | null) {
    this.created_s = created_s;
  }

  observe(value: number): void {
    this.count++;
    this.sum += value;
  }
}

/** One series of a classic histogram. An observation belongs to the first bound that it does not exceed. */
export class Histogram {
  /** Observations per bucket, not cumulative; the last is the overflow bucket. */
  readonly counts: Float64Array;
  readonly bounds: readonly number[];
  sum = 0;
  readonly created_s: number | null;

  /** @param bounds finite upper bounds, ascending */
  constructor(bounds: readonly number[], created_s: number | null) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
    this.created_s = created_s;
  }

  get count(): number {
    return this.counts.reduce((total, count) => total + count, 0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? Infinity)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}
