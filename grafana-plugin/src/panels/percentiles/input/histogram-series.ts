import type { FieldConfig, Labels } from '@grafana/data';

/**
 * What the counts of a series are:
 * - `counters`: raw cumulative counters over time (`x_bucket`); differences between samples are true counts;
 * - `rates`: already per second or per window (`rate()`, `increase()`), extrapolated by Prometheus;
 * - `total`: one histogram for the whole range (an instant query as a table).
 */
export type CountsKind = 'counters' | 'rates' | 'total';

/** One histogram at one time. `counts[i]` is the count of values <= `bounds[i]` (cumulative, as Prometheus' `le`). */
export interface HistogramSample {
  timeMs: number;
  counts: number[];
}

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
  /** Upper bucket bounds, ascending; the last is `Infinity`. */
  bounds: number[];
  /** Distance of two samples in milliseconds when nothing is missing. */
  stepMs: number;
  /** Ascending in time. */
  samples: HistogramSample[];
  /** Field options (unit, decimals, min, max) of the series, overrides applied. */
  config: FieldConfig;
}
