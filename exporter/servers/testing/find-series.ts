import type { HistogramStatistics, CounterStatistics, SeriesStatistics } from '../statistics.ts';
import { seriesStatistics, windowOf } from '../statistics.ts';
import type { Series } from '../series.ts';
import type { TargetStore } from '../target-store.ts';

/** The series of a family whose labels hold these. */
export function find(store: TargetStore, family: string, labels: Record<string, string> = {}): Series[] {
  return store.series.filter(
    (series) =>
      series.family.name === family && Object.entries(labels).every(([name, value]) => series.labels[name] === value),
  );
}

/** Statistics of each, over the whole recording. */
export function whole(store: TargetStore, family: string, labels: Record<string, string> = {}): SeriesStatistics[] {
  const window = { start_ns: store.at_ns(0), end_ns: store.at_ns(store.scrapes - 1) };
  return find(store, family, labels).map((series) =>
    seriesStatistics(series, store, windowOf(store, window, window.end_ns)),
  );
}

/** What the counters, or the counts of the histograms, of a family gained over the whole recording, added up. */
export function gained(store: TargetStore, family: string, labels: Record<string, string> = {}): number {
  return whole(store, family, labels)
    .filter((each): each is CounterStatistics | HistogramStatistics => each.kind !== 'gauge')
    .reduce((sum, each) => sum + ((each.kind === 'counter' ? each.increase : each.count) ?? 0), 0);
}

/** The sums of a family's histograms, added up. */
export function gainedSum(store: TargetStore, family: string, labels: Record<string, string> = {}): number {
  return whole(store, family, labels).reduce(
    (sum, each) => sum + ((each.kind === 'histogram' ? each.sum : null) ?? 0),
    0,
  );
}
