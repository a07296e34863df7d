import type { HistogramStatistics, CounterStatistics, SeriesStatistics } from '../../../core/run/servers-file.ts';
import { seriesStatistics, windowOf } from '../series/statistics.ts';
import type { Series } from '../series/series.ts';
import type { TargetStore } from '../series/target-store.ts';

/** The series of a family whose labels include these. */
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

/** Total increase of a family's counters, or of its histograms' counts, over the whole recording. */
export function gained(store: TargetStore, family: string, labels: Record<string, string> = {}): number {
  return whole(store, family, labels)
    .filter((each): each is CounterStatistics | HistogramStatistics => each.kind !== 'gauge')
    .reduce((sum, each) => sum + ((each.kind === 'counter' ? each.increase : each.count) ?? 0), 0);
}

/** Total increase of the sums of a family's histograms. */
export function gainedSum(store: TargetStore, family: string, labels: Record<string, string> = {}): number {
  return whole(store, family, labels).reduce(
    (sum, each) => sum + ((each.kind === 'histogram' ? each.sum : null) ?? 0),
    0,
  );
}
