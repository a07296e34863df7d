import type { OpenMetricsSample } from './openmetrics-sample-rules.ts';

/** The rules between the samples of one point of a histogram or gauge histogram. */
export class HistogramRules {
  private used = false;
  private bound = NaN;
  private value = 0;
  private count: number | null = null;
  private hasSum = false;
  private hasNegativeSum = false;
  /** `_sum` (only grows), not `_gsum`. */
  private isCounter = false;
  private hasNegativeBound = false;

  /** Adds the next sample of the point; returns the rule that it breaks, or null. */
  add({ suffix, bound, value }: OpenMetricsSample): string | null {
    if (suffix === '_created') return null;
    this.used = true;
    if (suffix === '_bucket') {
      const next = Number((bound ?? '').replace('Inf', 'Infinity'));
      if (next <= this.bound) return 'the buckets are not in ascending order of "le"';
      if (value < this.value) return 'the buckets are not cumulative';
      this.bound = next;
      this.value = value;
      if (next < 0) this.hasNegativeBound = true;
    } else if (suffix === '_count' || suffix === '_gcount') {
      this.count = value;
    } else {
      this.hasSum = true;
      if (suffix === '_sum') this.isCounter = true;
      if (value < 0) this.hasNegativeSum = true;
    }
    return null;
  }

  /** Ends the point; returns the rule that it breaks as a whole, or null. */
  end(): string | null {
    if (!this.used) return null;
    const { bound, value, count, hasSum, hasNegativeSum, isCounter, hasNegativeBound } = this;
    this.used = false;
    this.bound = NaN;
    this.value = 0;
    this.count = null;
    this.hasSum = this.hasNegativeSum = this.isCounter = this.hasNegativeBound = false;
    if (bound !== Infinity) return 'a histogram without the bucket "+Inf"';
    if (count !== null && count !== value) return 'the count is not the value of the bucket "+Inf"';
    if (hasSum !== (count !== null)) return 'a sum without a count, or a count without a sum';
    if (isCounter && hasNegativeBound) return 'a sum beside buckets below 0';
    if (hasNegativeSum && !hasNegativeBound) return 'a negative sum of values that are not negative';
    return null;
  }
}
