import type { ClassicHistogram } from '../../core/histogram/classic-histogram.ts';
import { counterIncrease } from '../../core/series/increase.ts';
import { windowDifferences } from '../../core/series/window.ts';
import type { HistogramSeries, ScalarSeries } from './series.ts';
import type { TargetStore } from './target-store.ts';

/** A stretch of one target's scrapes: `from` is the reference, −1 when there was none before the window. */
export interface ScrapeRange {
  readonly from: number;
  readonly to: number;
}

/** What a counter gained over a range. */
export interface CounterGain {
  readonly increase: number;
  readonly resets: number;
}

/** What a histogram gained over a range; buckets are null when they cannot be told. */
export interface HistogramGain {
  readonly histogram: ClassicHistogram;
  /** By the last bucket, or by `_count` where the page lacks the infinite bucket. */
  readonly count: number;
  readonly resets: number;
}

/** Changes of a series without an absence between them and without a restart of the process. */
interface Stretch {
  readonly changes: readonly number[];
  readonly bornAtZero: boolean;
}

/** Null: not known, because there is only one scrape of it and what it had before is unknown. */
export function counterGain(series: ScalarSeries, store: TargetStore, range: ScrapeRange): CounterGain | null {
  return gainOf(series, store, range, (change) => series.value(change));
}

function gainOf(
  series: ScalarSeries | HistogramSeries,
  store: TargetStore,
  range: ScrapeRange,
  valueOf: (change: number) => number,
): CounterGain | null {
  const falls = (before: number, after: number): boolean => valueOf(after) < valueOf(before);
  const parts = stretches(series, store, range).map(({ changes, bornAtZero }) =>
    counterIncrease(
      essential(changes, falls).map((change) => ({ timeMs: change, value: valueOf(change) })),
      { bornAtZero },
    ),
  );
  const known = parts.filter((part) => part !== null);
  if (known.length === 0) return null;
  return {
    increase: known.reduce((total, part) => total + part.increase, 0),
    resets: known.reduce((total, part) => total + part.resets, 0) + parts.length - 1,
  };
}

/** As `counterGain`. One grid, because a series has one. */
export function histogramGain(series: HistogramSeries, store: TargetStore, range: ScrapeRange): HistogramGain | null {
  const falls = (before: number, after: number): boolean => {
    for (let i = 0; i < series.bounds.length; i++) {
      if (series.count(after, i) < series.count(before, i)) return true;
    }
    return (series.bounds[0] ?? NaN) > 0 && series.sum(after) < series.sum(before);
  };
  const all = stretches(series, store, range);
  const parts = all.flatMap(({ changes, bornAtZero }) =>
    windowDifferences(
      essential(changes, falls).map((change) => ({ timeMs: change, histogram: histogramAt(series, change) })),
      { bornAtZero },
    ),
  );
  const [first, ...rest] = parts;
  if (first === undefined) return null;
  const histogram = rest.reduce<ClassicHistogram>((total, part) => added(total, part.histogram), first.histogram);
  const count = histogram.counts.at(-1) ?? NaN;
  const complete = histogram.bounds.at(-1) === Infinity;
  return {
    histogram,
    count: complete ? count : (gainOf(series, store, range, (change) => series.total(change))?.increase ?? NaN),
    resets: parts.reduce((total, part) => total + part.resets, 0) + all.length - 1,
  };
}

export function histogramAt(series: HistogramSeries, change: number): ClassicHistogram {
  const sum = series.sum(change);
  return {
    bounds: series.bounds,
    counts: series.bounds.map((_, bucket) => series.count(change, bucket)),
    sum: Number.isFinite(sum) ? sum : null,
  };
}

function added(a: ClassicHistogram, b: ClassicHistogram): ClassicHistogram {
  return {
    bounds: a.bounds,
    counts: a.counts.map((count, i) => count + (b.counts[i] ?? NaN)),
    sum: a.sum === null || b.sum === null ? null : a.sum + b.sum,
  };
}

/**
 * The changes of a range, cut where the process began anew. The first stretch begins at 0 when the series was born within
 * the range on a target that was known before; the later ones do, because a new process counts from 0.
 */
function stretches(series: ScalarSeries | HistogramSeries, store: TargetStore, { from, to }: ScrapeRange): Stretch[] {
  const restarts = store.restarts.filter((scrape) => scrape > from && scrape <= to);
  const cuts = [from, ...restarts, to + 1];
  const found: Stretch[] = [];
  for (let i = 0; i + 1 < cuts.length; i++) {
    const start = cuts[i] ?? 0;
    const changes = valuesBetween(series, start, (cuts[i + 1] ?? 0) - 1);
    const bornInRange = i === 0 && series.bornOnKnownTarget && series.bornAt > from;
    if (changes.length > 0) found.push({ changes, bornAtZero: i > 0 || bornInRange });
  }
  return found;
}

/** The changes that hold a value within these scrapes: the one that holds at the first of them, then those that follow. */
function valuesBetween(series: ScalarSeries | HistogramSeries, first: number, last: number): number[] {
  const changes: number[] = [];
  const end = series.changeAt(last);
  for (let change = Math.max(0, series.changeAt(Math.max(0, first))); change <= end; change++) {
    if (!series.isAbsent(change)) changes.push(change);
  }
  // One value that held throughout stands for the first and for the last scrape.
  return changes.length === 1 && last > first ? [changes[0] ?? 0, changes[0] ?? 0] : changes;
}

/** The first, the last, and both sides of each fall: the rest adds nothing to a sum of differences. */
function essential(changes: readonly number[], falls: (before: number, after: number) => boolean): number[] {
  return changes.filter((change, i) => {
    const before = changes[i - 1];
    const after = changes[i + 1];
    if (before === undefined || after === undefined) return true;
    return falls(before, change) || falls(change, after);
  });
}
