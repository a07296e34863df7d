import type { ClassicHistogram } from '../../../core/histogram/classic-histogram.ts';
import { processOf } from './lives/start-proofs.ts';
import { sharedBuckets } from './lives/cumulative-values.ts';
import { HistogramSeries, type ScalarSeries } from './series.ts';
import type { TargetStore } from './target-store.ts';

/** A range of one target's scrapes: `from` is the reference, −1 when there is none before the window. */
export interface ScrapeRange {
  readonly from: number;
  readonly to: number;
  /** Of the window, by the collection's clock. */
  readonly start_ns: number;
}

/** What a counter gained over a range. */
export interface CounterGain {
  readonly increase: number;
  readonly resets: number;
}

/** What a histogram gained over a range. */
export interface HistogramGain {
  /** With the bounds common to all pages of the range; without bounds when it only has a sum and a count. */
  readonly histogram: ClassicHistogram;
  /** The bounds as the page writes them. */
  readonly boundTexts: readonly string[];
  /** From the last bucket, or from `_count` when the page lacks the +Inf bucket. */
  readonly count: number;
  readonly resets: number;
  /** The sum decreased without a reset: negative values were observed. */
  readonly negativeValues: boolean;
  /** Largest possible rounding error of the sum. */
  readonly sumError: number;
}

/** Changes between which a series counted without a reset; `first` null: from 0. */
interface Stretch<S> {
  readonly first: { readonly series: S; readonly change: number } | null;
  readonly last: number;
}

interface Stretches<S> {
  readonly stretches: readonly Stretch<S>[];
  readonly resets: number;
}

/**
 * Null: unknown, because only one scrape has the series and its earlier value is unknown, because its value at an end of
 * the range is no number, because its process may have restarted, or because several servers answer at the address.
 */
export function counterGain(series: ScalarSeries, store: TargetStore, range: ScrapeRange): CounterGain | null {
  const found = stretchesOf(series, store, range);
  if (found === null) return null;
  const increase = found.stretches.reduce(
    (sum, { first, last }) => sum + series.value(last) - (first === null ? 0 : series.value(first.change)),
    0,
  );
  return { increase, resets: found.resets };
}

/** As `counterGain`. */
export function histogramGain(series: HistogramSeries, store: TargetStore, range: ScrapeRange): HistogramGain | null {
  const found = stretchesOf(series, store, range);
  if (found === null) return null;
  const { stretches, resets } = found;
  const reference = stretches[0]?.first?.series ?? series;
  const shared = sharedBuckets(reference, series);
  const counts = new Array<number>(shared.length).fill(0);
  let [sum, total, sumError] = [0, 0, 0];
  for (const { first, last } of stretches) {
    for (const [i, [before, after]] of shared.entries())
      counts[i] = (counts[i] ?? 0) + series.count(last, after) - (first?.series.count(first.change, before) ?? 0);
    sum += series.sum(last) - (first?.series.sum(first.change) ?? 0);
    const gained = series.total(last) - (first?.series.total(first.change) ?? 0);
    total += gained;
    sumError += roundingOf(gained, series.sum(last), first?.series.sum(first.change) ?? 0);
  }
  const only = stretches.length === 1 && resets === 0 ? stretches[0] : undefined;
  const negativeValues = only !== undefined && sumFell(series, only, sumError);
  const complete = series.bounds.at(-1) === Infinity && shared.length > 0;
  const count = complete ? (counts.at(-1) ?? NaN) : total;
  return {
    histogram: {
      bounds: shared.map(([, bucket]) => series.bounds[bucket] ?? NaN),
      counts,
      // Without observations the sum is 0; any remainder is rounding.
      sum: !Number.isFinite(sum) ? null : count === 0 ? 0 : sum,
    },
    boundTexts: shared.map(([, bucket]) => series.boundTexts[bucket] ?? ''),
    count,
    resets,
    negativeValues,
    sumError,
  };
}

/**
 * A range divided where the series restarted. The first part begins at the value that the series had before the range,
 * or at 0 when the series was born within the range on a target that was already known; the others begin at 0.
 */
function stretchesOf<S extends ScalarSeries | HistogramSeries>(
  series: S,
  store: TargetStore,
  { from, to, start_ns }: ScrapeRange,
): Stretches<S> | null {
  if (store.severalServers !== null || to < 0) return null;
  // What it counted up to a value that is no number is not known.
  if (series.isUnknownAt(to) || (from >= 0 && series.isUnknownAt(from))) return null;
  if (series.unclearAt.some((scrape) => scrape > from && scrape <= to)) return null;
  const restarts = series.anewAt.filter((scrape) => scrape > from && scrape <= to);
  const edges = [...restarts, to + 1];
  const stretches: Stretch<S>[] = [];
  const firstEnd = (edges[0] ?? to + 1) - 1;
  const last = valueWithin(series, Math.max(0, from), firstEnd);
  const first = last === null ? null : firstOf(series, store, { from, start_ns }, firstEnd);
  if (last !== null && first !== undefined) stretches.push({ first, last });
  for (const [i, start] of restarts.entries()) {
    const end = valueWithin(series, start, (edges[i + 1] ?? to + 1) - 1);
    if (end !== null) stretches.push({ first: null, last: end });
  }
  if (stretches.length === 0) return null;
  const resets = restarts.filter((scrape) => series.lastValueAt(series.changeAt(scrape - 1)) >= 0).length;
  return { stretches, resets };
}

/** Whether a series is absent at a scrape and began anew since its last value: then it counts from 0 when it returns. */
function restartedAbsent(series: ScalarSeries | HistogramSeries, scrape: number): boolean {
  const absentSince = series.absentSince(scrape);
  return absentSince !== null && series.anewAt.some((anew) => anew >= absentSince && anew <= scrape);
}

const NO_LABELS: ReadonlySet<string> = new Set();

/** Where the first part begins; null: at 0; undefined: unknown, because only one scrape has the series. */
function firstOf<S extends ScalarSeries | HistogramSeries>(
  series: S,
  store: TargetStore,
  { from, start_ns }: Omit<ScrapeRange, 'to'>,
  end: number,
): Stretch<S>['first'] | undefined {
  const before = series.lastValueAt(series.changeAt(from));
  if (before >= 0 && restartedAbsent(series, from)) return null;
  if (before >= 0) return end > from ? { series, change: before } : undefined;
  if (series.bornAt > from && series.startsAtZero) {
    const predecessor = series instanceof HistogramSeries ? (series.predecessor as S | null) : null;
    const change = predecessor?.lastValueAt(predecessor.changeAt(series.bornAt)) ?? -1;
    return predecessor !== null && change >= 0 ? { series: predecessor, change } : null;
  }
  // What its process counted before the first scrape is part of the window too.
  if (from < 0 && store.startedSince(start_ns) && processOf(series, NO_LABELS) === '') return null;
  let change = 0;
  while (change < series.changes && series.isAbsent(change)) change += 1;
  return store.lastOkAt(Infinity) > series.scrapeOf(change) && end > series.scrapeOf(change)
    ? { series, change }
    : undefined;
}

/** The last change whose value holds within these scrapes; null: none. */
function valueWithin(series: ScalarSeries | HistogramSeries, first: number, last: number): number | null {
  const change = series.lastValueAt(series.changeAt(last));
  if (change < 0) return null;
  // The change may precede the range: its value holds at the first scrape unless an absence follows it.
  const next = change + 1;
  const held = series.scrapeOf(change) >= first || next >= series.changes || series.scrapeOf(next) > first;
  return held ? change : null;
}

/** Whether the sum decreased between two changes of a part by more than its rounding error. */
function sumFell(series: HistogramSeries, { first, last }: Stretch<HistogramSeries>, error: number): boolean {
  let before = first === null ? 0 : first.series.sum(first.change);
  for (let change = first?.series === series ? first.change + 1 : 0; change <= last; change++) {
    const sum = series.sum(change);
    if (sum < before - error) return true;
    if (!Number.isNaN(sum)) before = sum;
  }
  return false;
}

/** Each addition rounds the sum by up to half a unit in the last place, and so does the subtraction. */
function roundingOf(additions: number, end: number, start: number): number {
  return (Math.abs(additions) + 2) * 2 ** -53 * Math.max(Math.abs(end), Math.abs(start));
}
