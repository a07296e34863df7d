import { histogramQuantile } from '../../../core/histogram/quantile.ts';
import { mean, percentile } from '../../../core/stats/percentiles.ts';
import { slicesOf, type TimeWindow } from '../series/statistics.ts';
import { HistogramSeries, type ScalarSeries, type Series } from '../series/series.ts';
import type { BucketCounts } from '../../../core/run/servers-file.ts';
import type { TargetStore } from '../series/target-store.ts';

/** A time slice in AIPerf's form: times of the collection's clock, statistics by AIPerf's names. */
export interface AiperfSlice {
  readonly start_ns: number;
  readonly end_ns: number;
  readonly complete: boolean;
  readonly stats: Readonly<Record<string, number>>;
  readonly buckets?: BucketCounts;
}

/** One series as summarized by AIPerf's server metrics. Statistics that AIPerf omits are omitted. */
export interface AiperfSeriesSummary {
  readonly stats: Readonly<Record<string, number>>;
  /** Increase of the cumulative counts by bound. */
  readonly buckets?: BucketCounts;
  readonly timeslices: readonly AiperfSlice[];
}

export const AIPERF_PERCENTILES = [1, 5, 10, 25, 50, 75, 90, 95, 99] as const;

/**
 * AIPerf's own definitions, to reproduce its numbers: the reference of cumulative series is the last scrape sent before
 * the window (else the first in it: births within the window are lost), resets are not corrected, the rate divides by
 * the time between the two scrapes, gauges are unweighted means of samples, and the window ends with the target's last
 * scrape. Percentiles of histograms are Prometheus' estimate, not AIPerf's reconstruction of single values. Null: no
 * sample lies in the window.
 */
export function aiperfStatistics(
  series: Series,
  store: TargetStore,
  window: TimeWindow,
  slice_ns: number | null,
): AiperfSeriesSummary | null {
  const samples = samplesOf(series, store, window);
  if (samples.inside.length === 0) return null;
  if (series instanceof HistogramSeries) return histogram(series, samples, slice_ns);
  const scalar = series as ScalarSeries;
  return scalar.isCounter ? counter(scalar, samples, slice_ns) : gauge(scalar, samples, slice_ns);
}

interface SampledChange {
  readonly scrape: number;
  readonly change: number;
  readonly at_ns: number;
}

interface Samples {
  readonly all: readonly SampledChange[];
  readonly reference: SampledChange | null;
  readonly inside: readonly SampledChange[];
}

function samplesOf(series: Series, store: TargetStore, { start_ns, end_ns }: TimeWindow): Samples {
  const all: SampledChange[] = [];
  const inside: SampledChange[] = [];
  let reference: SampledChange | null = null;
  let change = -1;
  for (let scrape = series.bornAt; scrape < store.scrapes; scrape++) {
    if (!store.isOk(scrape)) continue;
    while (change + 1 < series.changes && series.scrapeOf(change + 1) <= scrape) change += 1;
    if (change < 0 || series.isAbsent(change)) continue;
    const sample = { scrape, change, at_ns: store.at_ns(scrape) };
    all.push(sample);
    if (store.sent_ns(scrape) < start_ns) reference = sample;
    else inside.push(sample);
  }
  // The window ends with the target's last scrape when that is later than the end of the run.
  const last_ns = Math.max(end_ns, store.at_ns(store.lastOkAt(Infinity)));
  return { all, reference, inside: inside.filter(({ at_ns }) => at_ns <= last_ns) };
}

function lastAt(samples: readonly SampledChange[], at_ns: number): SampledChange | null {
  return samples.findLast((sample) => sample.at_ns <= at_ns) ?? null;
}

function slicesOfSamples({ inside }: Samples, slice_ns: number | null): ReturnType<typeof slicesOf> {
  const first = inside[0];
  const last = inside.at(-1);
  if (slice_ns === null || first === undefined || last === undefined) return [];
  return slicesOf({ start_ns: first.at_ns, end_ns: last.at_ns }, slice_ns);
}

const seconds = (ns: number): number => ns / 1e9;

function counter(series: ScalarSeries, samples: Samples, slice_ns: number | null): AiperfSeriesSummary {
  const first = samples.reference ?? (samples.inside[0] as SampledChange);
  const last = samples.inside.at(-1) as SampledChange;
  const gained = (from: SampledChange, to: SampledChange): number =>
    Math.max(series.value(to.change) - series.value(from.change), 0);
  const total = gained(first, last);
  const distance = seconds(last.at_ns - first.at_ns);
  const timeslices = slicesOfSamples(samples, slice_ns).map(({ start_ns, end_ns, complete }) => {
    const from = lastAt(samples.all, start_ns);
    const to = lastAt(samples.all, end_ns);
    const amount = from === null || to === null ? 0 : gained(from, to);
    return { start_ns, end_ns, complete, stats: { total: amount, rate: amount / seconds(end_ns - start_ns) } };
  });
  const rates = timeslices.filter(({ complete }) => complete).map(({ stats }) => stats.rate);
  return {
    stats: { total, ...(distance > 0 ? { rate: total / distance } : {}), ...ratesOfSlices(rates) },
    timeslices,
  };
}

function ratesOfSlices(rates: readonly number[]): Record<string, number> {
  if (rates.length === 0) return {};
  const { avg, min, max } = extremes(rates);
  return { rate_avg: avg, rate_min: min, rate_max: max, rate_std: sampleDeviation(rates) };
}

function gauge(series: ScalarSeries, samples: Samples, slice_ns: number | null): AiperfSeriesSummary {
  const values = samples.inside.map(({ change }) => series.value(change));
  const sorted = Float64Array.from(values).sort();
  const percentiles = AIPERF_PERCENTILES.map((p): [string, number] => [`p${p}`, percentile(sorted, p / 100)]);
  const slices = values.length < 2 ? [] : slicesOfSamples(samples, slice_ns);
  const timeslices = slices.flatMap(({ start_ns, end_ns, complete }) => {
    const within = samples.inside
      .filter(({ at_ns }) => at_ns >= start_ns && (complete ? at_ns < end_ns : at_ns <= end_ns))
      .map(({ change }) => series.value(change));
    if (within.length === 0) return [];
    return [{ start_ns, end_ns, complete, stats: extremes(within) }];
  });
  return {
    stats: { ...extremes(values), std: sampleDeviation(values), ...Object.fromEntries(percentiles) },
    timeslices,
  };
}

function extremes(values: readonly number[]): { avg: number; min: number; max: number } {
  let [min, max] = [Infinity, -Infinity];
  // A gauge of a long run has more values than a call may have arguments.
  for (const value of values) [min, max] = [Math.min(min, value), Math.max(max, value)];
  return { avg: mean(values), min, max };
}

function histogram(series: HistogramSeries, samples: Samples, slice_ns: number | null): AiperfSeriesSummary {
  const first = samples.reference ?? (samples.all[0] as SampledChange);
  const last = samples.inside.at(-1) as SampledChange;
  const whole = gainOf(series, first, last);
  const distance = seconds(last.at_ns - first.at_ns);
  const rates = distance > 0 ? { count_rate: whole.count / distance, sum_rate: whole.sum / distance } : {};
  const stats: Record<string, number> =
    whole.count === 0
      ? { count: 0 }
      : {
          count: whole.count,
          sum: whole.sum,
          avg: whole.sum / whole.count,
          ...rates,
          ...(whole.fell ? {} : estimates(series, whole.counts)),
        };
  const slices = whole.count === 0 ? [] : slicesOfSamples(samples, slice_ns);
  const timeslices = slices.flatMap(({ start_ns, end_ns, complete }) => {
    const from = lastAt(samples.all, start_ns);
    const to = lastAt(samples.all, end_ns);
    if (from === null || to === null) return [];
    const { count, sum, counts, fell } = gainOf(series, from, to);
    if (fell || count < 0 || sum < 0) return [];
    const avg = count > 0 ? sum / count : 0;
    return [{ start_ns, end_ns, complete, stats: { count, sum, avg }, buckets: byBound(series, counts) }];
  });
  return { stats, ...(whole.fell ? {} : { buckets: byBound(series, whole.counts) }), timeslices };
}

interface Gain {
  readonly count: number;
  readonly sum: number;
  readonly counts: readonly number[];
  /** A bucket decreased: AIPerf then reports no buckets. */
  readonly fell: boolean;
}

function gainOf(series: HistogramSeries, from: SampledChange, to: SampledChange): Gain {
  const counts = series.bounds.map((_, i) => series.count(to.change, i) - series.count(from.change, i));
  return {
    count: series.total(to.change) - series.total(from.change),
    sum: series.sum(to.change) - series.sum(from.change),
    counts,
    fell: counts.some((count) => count < 0),
  };
}

function estimates({ bounds }: HistogramSeries, counts: readonly number[]): Record<string, number> {
  const entries = AIPERF_PERCENTILES.map((p): [string, number] => [
    `p${p}_estimate`,
    histogramQuantile(p / 100, { bounds, counts, sum: null }),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => Number.isFinite(value)));
}

function byBound({ boundTexts }: HistogramSeries, counts: readonly number[]): BucketCounts {
  return boundTexts.map((text, i) => [text, counts[i] ?? NaN]);
}

/** Divided by n − 1; 0 for one value. */
function sampleDeviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const center = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1));
}
