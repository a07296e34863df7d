import { quantileBounds } from '../../../core/histogram/bounds.ts';
import { monotonic, histogramQuantile } from '../../../core/histogram/quantile.ts';
import { exponentialQuantile } from '../../../core/histogram/native-histogram.ts';
import type {
  GaugeStatistics,
  CounterStatistics,
  HistogramPercentile,
  HistogramStatistics,
  SeriesStatistics,
} from '../../../core/run/servers-file.ts';
import { PERCENTILE_NAMES, PERCENTILES, summarize, type PercentileName } from '../../../core/stats/percentiles.ts';
import { counterGain, histogramGain, type ScrapeRange } from './cumulative-window.ts';
import { NativeHistogramSeries } from './native-series.ts';
import { ScalarSeries, HistogramSeries, type Series } from './series.ts';
import type { TargetStore } from './target-store.ts';

/** A value is assumed to hold until the next sample, but not over a gap longer than this many intervals. */
const MAX_HELD_INTERVALS = 3;

/** Nanoseconds of the collection's clock. */
export interface TimeWindow {
  readonly start_ns: number;
  readonly end_ns: number;
}

function gaugeStatistics(series: ScalarSeries, store: TargetStore, window: TimeWindow): GaugeStatistics {
  const { start_ns, end_ns } = window;
  const samples: number[] = [];
  /** The value that held when the window began: it is part of the mean. */
  let before: number | null = null;
  let weighted = 0;
  let weight = 0;
  let longest = 0;
  let lastSample_ns = start_ns;
  let held: { value: number; at_ns: number; interval_ns: number } | null = null;

  const hold = (until_ns: number, interval_ns: number): void => {
    if (held === null || until_ns - held.at_ns > MAX_HELD_INTERVALS * Math.max(held.interval_ns, interval_ns)) return;
    const length = Math.min(until_ns, end_ns) - Math.max(held.at_ns, start_ns);
    if (length <= 0) return;
    if (held.at_ns < start_ns) before = held.value;
    weighted += held.value * length;
    weight += length;
  };

  const first = Math.max(0, store.lastOkAt(start_ns));
  let change = series.changeAt(first);
  for (let scrape = first; scrape < store.scrapes && store.at_ns(scrape) <= end_ns; scrape++) {
    if (!store.isOk(scrape)) continue;
    while (change + 1 < series.changes && series.scrapeOf(change + 1) <= scrape) change += 1;
    const at_ns = store.at_ns(scrape);
    const interval_ns = store.interval_ns(scrape);
    hold(at_ns, interval_ns);
    held = null;
    if (change < 0 || series.isAbsent(change)) continue;
    held = { value: series.value(change), at_ns, interval_ns };
    if (at_ns < start_ns) continue;
    samples.push(held.value);
    longest = Math.max(longest, at_ns - lastSample_ns);
    lastSample_ns = at_ns;
  }
  if (held !== null) hold(end_ns, 0);
  longest = Math.max(longest, end_ns - lastSample_ns);

  const summary = summarize(Float64Array.from(samples));
  return {
    kind: 'gauge',
    mean: weight > 0 ? weighted / weight : null,
    min: extreme(Math.min, summary?.min, before),
    max: extreme(Math.max, summary?.max, before),
    std: summary?.std ?? null,
    n: samples.length,
    longest_gap_seconds: longest / 1e9,
    percentiles: Object.fromEntries(
      PERCENTILE_NAMES.map((name) => [name, summary?.percentiles[name] ?? null]),
    ) as GaugeStatistics['percentiles'],
  };
}

function extreme(pick: typeof Math.min, ofSamples: number | undefined, before: number | null): number | null {
  const values = [ofSamples, before].filter((value) => value !== null && value !== undefined);
  return values.length === 0 ? null : pick(...values);
}

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
  return { ...window, range: { from, to: store.lastOkAt(settled_ns), start_ns: window.start_ns } };
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

/** Native histograms with an exponential schema are interpolated on a logarithmic scale. */
function estimateOf(series: HistogramSeries): typeof histogramQuantile {
  return series instanceof NativeHistogramSeries && series.isExponential ? exponentialQuantile : histogramQuantile;
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

export interface Slice extends TimeWindow {
  /** False: the last slice, shortened by the end of the window. */
  readonly complete: boolean;
}

/** A window divided into equal slices from its start; the last one may be shorter. */
export function slicesOf({ start_ns, end_ns }: TimeWindow, duration_ns: number): Slice[] {
  const slices: Slice[] = [];
  for (let i = 0; ; i++) {
    const start = start_ns + i * duration_ns;
    if (start >= end_ns) return slices;
    const end = start_ns + (i + 1) * duration_ns;
    slices.push({ start_ns: start, end_ns: Math.min(end, end_ns), complete: end <= end_ns });
  }
}
