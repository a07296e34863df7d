import type { SeriesType, SeriesStatistics } from '../../../../core/run/servers-file.ts';
import { wall_ns, type CollectedTarget, type Collection } from '../../collection.ts';
import type { FamilyFacts, Series } from '../../series/series.ts';
import { slicesOf, seriesStatistics, windowOf } from '../../series/statistics.ts';
import {
  aiperfStatistics,
  AIPERF_PERCENTILES,
  type AiperfSlice,
  type AiperfSeriesSummary,
} from '../../summary/aiperf-statistics.ts';
import { inferredUnit } from '../../summary/families.ts';

/** A family in the form of AIPerf's exports. */
export interface AiperfFamily {
  /** Without `_total` when it is a counter. */
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram' | 'unknown';
  readonly unit: string | null;
  readonly description: string;
  /** In the order of targets and labels. */
  readonly series: readonly AiperfSeries[];
}

export interface AiperfSeries {
  readonly target: CollectedTarget;
  readonly series: Series;
  readonly statistics: AiperfSeriesSummary;
}

/** What AIPerf omits: start times, uptimes and summaries. */
export function isLeftOut({ name, ofSummary }: FamilyFacts): boolean {
  return ofSummary || name.endsWith('_created') || name.endsWith('_uptime') || name.includes('_uptime_');
}

/** Counters lose `_total`; the few that keep it in AIPerf's reference can be read back under either name. */
export function aiperfName({ name, type }: FamilyFacts): string {
  return type === 'counter' ? name.replace(/_total$/, '') : name;
}

/**
 * The families of a collection in AIPerf's terms, by name, with statistics that follow the collection's definitions.
 */
export function aiperfFamilies(collection: Collection): AiperfFamily[] {
  const byName = new Map<string, { facts: FamilyFacts; series: AiperfSeries[] }>();
  for (const target of collection.targets) {
    for (const series of target.store.series) {
      if (isLeftOut(series.family)) continue;
      const statistics = statisticsOf(collection, target, series);
      if (statistics === null) continue;
      const name = aiperfName(series.family);
      const found = byName.get(name) ?? { facts: series.family, series: [] };
      byName.set(name, found);
      found.series.push({ target, series, statistics });
    }
  }
  return [...byName]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { facts, series }]) => ({
      name,
      type: aiperfType(facts.type),
      unit: inferredUnit(name, facts.help),
      description: facts.help ?? '',
      series: series.toSorted((a, b) => compare(sortKey(a), sortKey(b))),
    }));
}

function aiperfType(type: SeriesType): AiperfFamily['type'] {
  return type === 'counter' || type === 'histogram' || type === 'unknown' ? type : 'gauge';
}

const sortKey = ({ target, series }: AiperfSeries): string => `${target.name} ${JSON.stringify(sorted(series.labels))}`;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Labels by name. */
export function sorted(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).toSorted(([a], [b]) => compare(a, b)));
}

/** Wall times of a slice. */
export function sliceTimes(
  collection: Collection,
  { start_ns, end_ns }: AiperfSlice,
): { start_ns: bigint; end_ns: bigint } {
  return { start_ns: wall_ns(collection, start_ns), end_ns: wall_ns(collection, end_ns) };
}

function statisticsOf(collection: Collection, target: CollectedTarget, series: Series): AiperfSeriesSummary | null {
  const { slice_ns, settled_ns, definitions } = collection;
  const { store, window } = target;
  if (definitions === 'aiperf') return aiperfStatistics(series, store, collection.window, slice_ns);
  const whole = inAiperfWords(seriesStatistics(series, store, window), window);
  if (whole === null) return null;
  const slices = slice_ns === null ? [] : slicesOf(window, slice_ns);
  const timeslices = slices.flatMap(({ complete, ...slice }): AiperfSlice[] => {
    const until_ns = slice.end_ns >= window.end_ns ? settled_ns : slice.end_ns;
    const part = inAiperfWords(seriesStatistics(series, store, windowOf(store, slice, until_ns)), slice);
    return part === null ? [] : [{ ...slice, complete, ...part }];
  });
  return { ...whole, timeslices };
}

/** Our statistics under AIPerf's names; null when the window has no value. */
function inAiperfWords(
  statistics: SeriesStatistics,
  { start_ns, end_ns }: { start_ns: number; end_ns: number },
): Pick<AiperfSeriesSummary, 'stats' | 'buckets'> | null {
  const seconds = (end_ns - start_ns) / 1e9;
  switch (statistics.kind) {
    case 'counter': {
      const { increase, rate_per_second } = statistics;
      return increase === null ? null : { stats: known({ total: increase, rate: rate_per_second }) };
    }
    case 'gauge': {
      const { mean, min, max, std, n, percentiles } = statistics;
      const named = AIPERF_PERCENTILES.map((p): [string, number | null] => [`p${p}`, percentiles[`p${p}`]]);
      return n === 0 ? null : { stats: known({ avg: mean, min, max, std, ...Object.fromEntries(named) }) };
    }
    case 'histogram': {
      const { count, sum, mean, rate_per_second, percentiles, buckets } = statistics;
      if (count === null || buckets === null) return null;
      if (count === 0) return { stats: { count }, buckets };
      const named = AIPERF_PERCENTILES.map((p): [string, number | null] => [
        `p${p}_estimate`,
        percentiles?.[`p${p}`].estimate ?? null,
      ]);
      const sumRate = sum === null || !(seconds > 0) ? null : sum / seconds;
      const stats = { count, sum, avg: mean, count_rate: rate_per_second, sum_rate: sumRate };
      return { stats: known({ ...stats, ...Object.fromEntries(named) }), buckets };
    }
  }
}

function known(stats: Readonly<Record<string, number | null>>): Record<string, number> {
  return Object.fromEntries(Object.entries(stats).filter((entry): entry is [string, number] => entry[1] !== null));
}

export const EXPORT_FORMATS = ['json', 'csv', 'jsonl', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Header of the exported files. */
export interface ExportInfo {
  /** Name and version of this program. */
  readonly tool: string;
  /** ID of the run, or a name generated for the collection. */
  readonly id: string;
}
