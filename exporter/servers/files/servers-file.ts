import type { SeriesSummary, ServersFile } from '../../../core/run/servers-file.ts';
import { aiperfStatistics } from '../summary/aiperf-statistics.ts';
import { repeats, targetResult, wall_ns, type CollectedTarget, type Collection } from '../collection.ts';
import { familyDescriber, type FamilyDescription } from '../summary/families.ts';
import { slicesOf, seriesStatistics, windowOf, type TimeWindow } from '../series/statistics.ts';
import type { Series } from '../series/series.ts';

export function serversFile(collection: Collection, runId: string | null): ServersFile {
  const { window, targets, definitions, interval_ns } = collection;
  const describe = familyDescriber(collection);
  return {
    schema_version: 1,
    run_id: runId,
    definitions,
    window: {
      start: instant(collection, window.start_ns),
      end: instant(collection, window.end_ns),
      seconds: (window.end_ns - window.start_ns) / 1e9,
    },
    interval_seconds: interval_ns / 1e9,
    targets: targets.map((target) => targetResult(collection, target)),
    series: targets.flatMap((target) =>
      inOrder(target.store.series).map((series) => summary(collection, target, series, describe(series.family))),
    ),
  };
}

/** By name, then in the order of appearance. */
export function inOrder(series: readonly Series[]): Series[] {
  return series.toSorted((a, b) => (a.family.name < b.family.name ? -1 : a.family.name > b.family.name ? 1 : 0));
}

function summary(
  collection: Collection,
  target: CollectedTarget,
  series: Series,
  { unit, per, description }: FamilyDescription,
): SeriesSummary {
  const { family, labels, noValues } = series;
  const own = collection.definitions === 'llmbench';
  return {
    target: target.name,
    family: family.name,
    type: family.type,
    unit,
    per,
    description,
    labels: { ...labels },
    repeats: repeats(collection, series),
    no_values: noValues,
    ...(own ? ownStatistics(collection, target, series) : aiperf(collection, target, series)),
  };
}

type Statistics = Pick<SeriesSummary, 'statistics' | 'slices'>;

function ownStatistics(collection: Collection, { store, window }: CollectedTarget, series: Series): Statistics {
  const { slice_ns, settled_ns } = collection;
  const slices =
    slice_ns === null
      ? null
      : slicesOf(window, slice_ns).map(({ complete, ...slice }) => {
          const last = slice.end_ns >= window.end_ns;
          const statistics = seriesStatistics(series, store, windowOf(store, slice, last ? settled_ns : slice.end_ns));
          return { ...edges(collection, slice), complete, statistics };
        });
  return { statistics: seriesStatistics(series, store, window), slices };
}

function aiperf(collection: Collection, { store }: CollectedTarget, series: Series): Statistics {
  const found = aiperfStatistics(series, store, collection.window, collection.slice_ns);
  if (found === null) return { statistics: null, slices: collection.slice_ns === null ? null : [] };
  const slices = found.timeslices.map(({ complete, stats, buckets = null, ...slice }) => ({
    ...edges(collection, slice),
    complete,
    statistics: { kind: 'aiperf' as const, stats, buckets },
  }));
  return {
    statistics: { kind: 'aiperf', stats: found.stats, buckets: found.buckets ?? null },
    slices: collection.slice_ns === null ? null : slices,
  };
}

function edges(collection: Collection, { start_ns, end_ns }: TimeWindow): { start: string; end: string } {
  return { start: instant(collection, start_ns), end: instant(collection, end_ns) };
}

/** RFC 3339 in UTC with milliseconds. */
export function instant(collection: Collection, at_ns: number): string {
  return new Date(Number(wall_ns(collection, at_ns) / 1_000_000n)).toISOString();
}
