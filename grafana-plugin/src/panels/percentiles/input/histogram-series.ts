import type { Field, Labels } from '@grafana/data';

/**
 * What the counts of a series are:
 * - `counters`: raw cumulative counters over time (`x_bucket`); differences between samples are true counts;
 * - `rates`: already per second or per window (`rate()`, `increase()`), extrapolated by Prometheus;
 * - `total`: one histogram for the whole range (an instant query as a table).
 */
export type CountsKind = 'counters' | 'rates' | 'total';

/** One histogram over time: a label set without `le`, from one query, with one set of bounds. */
export interface HistogramSeries {
  refId: string;
  /** The metric's name without `_bucket`; null when the query has dropped it. */
  metric: string | null;
  /** Labels without `le` and `__name__`. */
  labels: Labels;
  kind: CountsKind;
  /** True when differences of the counts are numbers of observations, so that bounds may be promised. */
  trueCounts: boolean;
  /** Buckets of a native histogram grow by a constant factor; Prometheus interpolates inside them exponentially. */
  exponential: boolean;
  /** Upper bucket bounds, ascending; the last is `Infinity`. */
  bounds: readonly number[];
  /** Distance of two samples in milliseconds when nothing is missing. */
  stepMs: number;
  /** Times of the samples in milliseconds, ascending. */
  times: readonly number[];
  /** Row by row, one row per time: the counts of values <= each bound (cumulative, as Prometheus' `le`). */
  counts: Float64Array;
  /** Sum of all values up to each time, from the `_sum` series; NaN where unknown, null without such a series. */
  sums: Float64Array | null;
  /** When the buckets of these labels changed into the present ones; null for the first set of bounds. */
  gridChangedMs: number | null;
  /** A field of the series with its options (unit, decimals, links), overrides applied. */
  field: Field;
}

/** The counts of one time, one per bound. */
export function countsAt({ counts, bounds }: HistogramSeries, row: number): Float64Array {
  return counts.subarray(row * bounds.length, (row + 1) * bounds.length);
}
