import { sameBound } from '../../../../core/histogram/classic-histogram.ts';
import type { ScalarSeries } from '../series.ts';
import { HistogramSeries } from '../series.ts';

/** A series whose numbers only increase while its process lives. */
export type CumulativeSeries = HistogramSeries | ScalarSeries;

/** On a page that lacks the series: 0; on one that has no number for it, as before. */
export function totalAt(series: CumulativeSeries, scrape: number): number {
  const change = series.knownAt(scrape);
  return change < 0 ? 0 : totalOf(series, change);
}

export function totalOf(series: CumulativeSeries, change: number): number {
  return series instanceof HistogramSeries ? series.total(change) : series.value(change);
}

/** The series that held the values before: its predecessor when it was born on this page. */
export function earlierOf(series: CumulativeSeries, scrape: number): CumulativeSeries {
  if (series instanceof HistogramSeries && series.predecessor !== null && series.bornAt === scrape)
    return series.predecessor;
  return series;
}

export const replacedAt = (series: CumulativeSeries, scrape: number): boolean =>
  series instanceof HistogramSeries && series.successorBornAt === scrape;

export function lastValueBefore(series: CumulativeSeries, scrape: number): number | null {
  const earlier = earlierOf(series, scrape);
  const change = earlier.lastValueAt(earlier.changeAt(scrape - 1));
  return change < 0 ? null : change;
}

/** Whether pages before this one lacked the series itself, not only a finite value. */
export function wasMissing(series: CumulativeSeries, scrape: number): boolean {
  const earlier = earlierOf(series, scrape);
  return earlier.wasMissingAt(earlier.changeAt(scrape - 1));
}

/** Whether a series returns with at least its count at the time it vanished. */
export function resumesItsValue(series: CumulativeSeries, scrape: number): boolean {
  const last = lastValueBefore(series, scrape);
  if (last === null || !series.hasValueAt(scrape)) return false;
  const then = totalOf(earlierOf(series, scrape), last);
  return then > 0 && totalAt(series, scrape) >= then;
}

/** Whether a series returns with a number below that at which it vanished. */
export function fellWhileAbsent(series: CumulativeSeries, scrape: number): boolean {
  const last = lastValueBefore(series, scrape);
  if (last === null || !series.hasValueAt(scrape)) return false;
  return fell(earlierOf(series, scrape), last, series, series.changeAt(scrape));
}

/** Whether an absent series is known to restart after its last value. */
export function startedSinceLastValue(series: CumulativeSeries): boolean {
  const last = series.lastValueAt(series.changes - 1);
  return last >= 0 && (series.anewAt.at(-1) ?? -1) > series.scrapeOf(last);
}

/** Whether a series that returns is known to restart since it vanished. */
export function startedWhileAbsent(series: CumulativeSeries, scrape: number): boolean {
  const absentSince = series.absentSince(scrape - 1) ?? Infinity;
  return series.anewAt.some((anew) => anew >= absentSince);
}

/** Whether a monotonic number decreased; for two grids only their common bounds are compared. */
export function fell(earlier: CumulativeSeries, then: number, series: CumulativeSeries, now: number): boolean {
  if (totalOf(series, now) < totalOf(earlier, then)) return true;
  if (!(series instanceof HistogramSeries) || !(earlier instanceof HistogramSeries)) return false;
  return sharedBuckets(earlier, series).some(([a, b]) => series.count(now, b) < earlier.count(then, a));
}

/** Pairs of the buckets with the same bound. */
export function sharedBuckets(a: HistogramSeries, b: HistogramSeries): readonly (readonly [number, number])[] {
  if (a === b) return a.bounds.map((_, i) => [i, i]);
  return a.bounds.flatMap((bound, i) => {
    const j = b.bounds.findIndex((other) => sameBound(bound, other));
    return j < 0 ? [] : [[i, j] as const];
  });
}
