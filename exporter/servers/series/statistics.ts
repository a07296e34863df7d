import type {
  CounterStatistics,
  HistogramPercentile,
  HistogramStatistics,
  SeriesStatistics,
} from '../../../core/run/servers-file.ts';
import { quantileBounds } from '../../../core/histogram/bounds.ts';
import { exponentialQuantile } from '../../../core/histogram/native/exponential-quantile.ts';
import { monotonic } from '../../../core/histogram/monotonic.ts';
import { histogramQuantile } from '../../../core/histogram/quantile.ts';
import { PERCENTILE_NAMES, PERCENTILES } from '../../../core/stats/percentiles.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import { counterGain, histogramGain, type ScrapeRange } from './cumulative-window.ts';
import { gaugeStatistics, type TimeWindow } from './gauge-statistics.ts';
import { HistogramSeries, ScalarSeries, type Series } from './series.ts';
import { NativeHistogramSeries } from './native-series.ts';
import type { TargetStore } from './target-store.ts';

/** A window with the scrapes that determine its increases. */
export interface StatisticsWindow extends TimeWindow {
  readonly range: ScrapeRange;
}

/**
 * The scrapes of a window: the last good one at or before its start, and the last good one up to `settled_ns`, when the
 * counts had settled after its end.
 */
export function windowOf(store: TargetStore, window: TimeWindow, settled_ns: number): StatisticsWindow {
  const from = store.lastOkAt(window.start_ns);
  return { ...window, range: { from, to: store.lastOkAt(settled_ns) } };
}

/**
 * Statistics of one series in a window, by its type. Quantiles of summaries, info and unknown metrics are treated as
 * gauges.
 */
export function seriesStatistics(series: Series, store: TargetStore, window: StatisticsWindow): SeriesStatistics {
  if (series instanceof HistogramSeries) return histogramStatistics(series, store, window);
  if (series instanceof ScalarSeries && series.isCounter) return counterStatistics(series, store, window);
  return gaugeStatistics(series as ScalarSeries, store, window);
}

function counterStatistics(series: ScalarSeries, store: TargetStore, window: StatisticsWindow): CounterStatistics {
  const gain = counterGain(series, store, window.range);
  if (gain === null) return { kind: 'counter', increase: null, rate_per_second: null, resets: 0 };
  return {
    kind: 'counter',
    increase: gain.increase,
    rate_per_second: perSecond(gain.increase, window),
    resets: gain.resets,
  };
}

function histogramStatistics(
  series: HistogramSeries,
  store: TargetStore,
  window: StatisticsWindow,
): HistogramStatistics {
  const gain = histogramGain(series, store, window.range);
  if (gain === null) return NOTHING_KNOWN;
  const { histogram, count, resets, boundTexts, negativeValues, sumError } = gain;
  const useSum = resets === 0 && !negativeValues && (histogram.bounds[0] ?? NaN) > 0;
  const options = { useSum, sumError };
  const infeasible = useSum && quantileBounds(0.5, histogram, options)?.infeasibleSum === true;
  return {
    kind: 'histogram',
    count,
    sum: histogram.sum,
    mean: histogram.sum === null || !(count > 0) ? null : histogram.sum / count,
    rate_per_second: perSecond(count, window),
    resets,
    infeasible_sum: infeasible,
    non_monotonic_buckets: monotonic(histogram, 0).forced,
    percentiles:
      count > 0 && boundTexts.length > 0
        ? percentiles(histogram, { ...options, negativeValues }, estimateOf(series))
        : null,
    buckets: boundTexts.map((text, i) => [text, histogram.counts[i] ?? NaN]),
  };
}

type Histogram = Parameters<typeof quantileBounds>[1];

/** Native histograms are interpolated on a logarithmic scale. */
function estimateOf(series: HistogramSeries): typeof histogramQuantile {
  return series instanceof NativeHistogramSeries ? exponentialQuantile : histogramQuantile;
}

function percentiles(
  histogram: Histogram,
  options: { readonly useSum: boolean; readonly sumError: number; readonly negativeValues: boolean },
  estimate: typeof histogramQuantile,
): Record<PercentileName, HistogramPercentile> {
  const entries = PERCENTILE_NAMES.map((name): [PercentileName, HistogramPercentile] => {
    const q = PERCENTILES[name];
    const plain = quantileBounds(q, histogram);
    // 0 is where the first bucket is assumed to begin, which negative observations disprove.
    const withoutStart = options.negativeValues && plain?.low === 0 && (histogram.bounds[0] ?? NaN) > 0;
    const narrowed = options.useSum ? quantileBounds(q, histogram, options) : null;
    return [
      name,
      {
        estimate: finite(estimate(q, histogram)),
        bounds: plain === null ? null : [withoutStart ? null : finite(plain.low), finite(plain.high)],
        bounds_by_sum: narrowed?.narrowedBySum === true ? [finite(narrowed.low), finite(narrowed.high)] : null,
      },
    ];
  });
  return Object.fromEntries(entries) as Record<PercentileName, HistogramPercentile>;
}

const NOTHING_KNOWN: HistogramStatistics = {
  kind: 'histogram',
  count: null,
  sum: null,
  mean: null,
  rate_per_second: null,
  resets: 0,
  infeasible_sum: false,
  non_monotonic_buckets: false,
  percentiles: null,
  buckets: null,
};

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

function perSecond(amount: number, { start_ns, end_ns }: TimeWindow): number | null {
  return end_ns > start_ns ? amount / ((end_ns - start_ns) / 1e9) : null;
}
