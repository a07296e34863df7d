import type { ServerTarget } from './result.ts';
import type { PercentileName } from '../stats/percentiles.ts';

/** What a counter gained in a window. */
export interface CounterStatistics {
  readonly kind: 'counter';
  /** Includes resets that were detected and births counted from 0; null: the samples do not determine it. */
  readonly increase: number | null;
  /** Increase ÷ length of the window. */
  readonly rate_per_second: number | null;
  readonly resets: number;
}

/** A percentile from buckets: the estimate, and the interval that contains the true percentile. */
export interface HistogramPercentile {
  /** Prometheus' `histogram_quantile`. */
  readonly estimate: number | null;
  /** (low, high]; high null: only "above low" is known. */
  readonly bounds: readonly [low: number | null, high: number | null] | null;
  /** The part of the interval that is consistent with the sum of the values; null: the sum does not narrow it. */
  readonly bounds_by_sum: readonly [low: number | null, high: number | null] | null;
}

/** What a histogram gained in a window. */
export interface HistogramStatistics {
  readonly kind: 'histogram';
  /** Nulls: the samples do not determine it. */
  readonly count: number | null;
  readonly sum: number | null;
  readonly mean: number | null;
  /** Observations ÷ length of the window. */
  readonly rate_per_second: number | null;
  readonly resets: number;
  /** The sum is inconsistent with the buckets and was not used. */
  readonly infeasible_sum: boolean;
  /** A cumulative count is below that of a lower bound: percentiles use repaired counts, as in Prometheus; absent in earlier files. */
  readonly non_monotonic_buckets?: boolean;
  readonly percentiles: Readonly<Record<PercentileName, HistogramPercentile>> | null;
  /** Cumulative counts. */
  readonly buckets: BucketCounts | null;
}

export type SeriesStatistics = CounterStatistics | GaugeStatistics | HistogramStatistics;

/** Statistics of a gauge over a window, in its unit. Nulls where nothing was sampled. */
export interface GaugeStatistics {
  readonly kind: 'gauge';
  /** Weighted by the time that each sample held. */
  readonly mean: number | null;
  /** With the value that held when the window began. */
  readonly min: number | null;
  readonly max: number | null;
  /** Of the samples themselves, divided by n. */
  readonly std: number | null;
  /** Samples in the window. */
  readonly n: number;
  /** Longest time in the window without a sample: min and max may have missed values in it. */
  readonly longest_gap_seconds: number;
  /** Of the samples, linear between order statistics. */
  readonly percentiles: Readonly<Record<PercentileName, number | null>>;
}

/** What a family's values are. The quantiles of a summary behave as gauges; its sum and count are counters. */
export type SeriesType = 'counter' | 'gauge' | 'histogram' | 'unknown' | 'info' | 'summary';

/** Counts by bound as the page writes it, in ascending order: an object would list integer keys first. */
export type BucketCounts = readonly (readonly [le: string, count: number])[];

/** AIPerf's statistics of a series, by its names. */
export interface AiperfSeriesStatistics {
  readonly kind: 'aiperf';
  readonly stats: Readonly<Record<string, number>>;
  readonly buckets: BucketCounts | null;
}

export interface SliceSummary {
  readonly start: string;
  readonly end: string;
  /** False: the last slice, shortened by the end of the window. */
  readonly complete: boolean;
  readonly statistics: SeriesStatistics | AiperfSeriesStatistics;
}

export interface SeriesSummary {
  readonly target: string;
  readonly family: string;
  readonly type: SeriesType;
  readonly unit: string | null;
  readonly per: string | null;
  readonly description: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** The target that also exposes the same series of the same process: it is counted there. */
  readonly repeats: string | null;
  /** Scrapes in which its value was NaN or infinite. */
  readonly no_values: number;
  /** Null: AIPerf has none, because no sample lies in the window. */
  readonly statistics: SeriesStatistics | AiperfSeriesStatistics | null;
  /** Null: the window is not divided into slices. */
  readonly slices: readonly SliceSummary[] | null;
}

/** `servers.json`: what the servers reported in the window, series by series. */
export interface ServersFile {
  readonly schema_version: 1;
  /** Null outside a run. */
  readonly run_id: string | null;
  readonly definitions: 'llmbench' | 'aiperf';
  readonly window: { readonly start: string; readonly end: string; readonly seconds: number };
  readonly interval_seconds: number;
  readonly targets: readonly ServerTarget[];
  readonly series: readonly SeriesSummary[];
}
