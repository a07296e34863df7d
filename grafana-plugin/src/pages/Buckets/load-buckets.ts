import { familyAdvice, type ObservedSeries, type FamilyAdvice } from '../../../../core/histogram/bucket-advice.ts';
import { bucketSettings, type BucketSetting } from '../../../../core/histogram/bucket-setting.ts';
import {
  classicHistogram,
  histogramDelta,
  type ClassicHistogram,
} from '../../../../core/histogram/classic-histogram.ts';
import {
  knownHistogram,
  systemsOfServer,
  type HistogramSystem,
  type KnownHistogram,
} from '../../catalog/server-catalog.ts';
import { nativeRows } from '../../prometheus/native-grid.ts';
import {
  queryBothKinds,
  queryPrometheus,
  type PrometheusSeries,
  type NativeSeries,
  type TimeSpan,
} from '../../prometheus/query-prometheus.ts';
import {
  EDGE,
  edgeQueries,
  increaseQueries,
  lastScrapeQuery,
  NAMES,
  resetQueries,
  serverFactQueries,
  STARTED,
  STARTS,
  UP,
  type ScrapedServer,
  type ListedServer,
} from './list-servers.ts';

/** The buckets of one series at a moment. */
interface BucketSeries {
  family: string;
  isNative: boolean;
  /** Without `le`, job and instance. */
  labels: Record<string, string>;
  histogram: ClassicHistogram;
}

/** What a server observed in the time range. */
export interface Observed {
  /** True counts. */
  exact: ObservedSeries[];
  /** Families whose counts at the start are unknown, or that were reset: only `increase()` estimates them. */
  estimated: string[];
}

const NOT_OF_SERIES = ['__name__', 'le', 'job', 'instance'];

/** Puts the bucket series of an instant query together. `family`: the name where the query took it away. */
export function bucketSeries(series: readonly PrometheusSeries[], family: string | null = null): BucketSeries[] {
  const groups = new Map<string, PrometheusSeries[]>();
  for (const one of series) {
    const key = keyOf({ family: family ?? familyOf(one.labels), labels: ownLabels(one.labels) });
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].map((buckets) => ({
    family: family ?? familyOf(buckets[0]?.labels ?? {}),
    isNative: false,
    labels: ownLabels(buckets[0]?.labels ?? {}),
    histogram: classicHistogram(buckets.map(({ labels, values }) => [labels['le'] ?? '', values.at(-1) ?? NaN])),
  }));
}

/** What Prometheus stores of a server: of a family in both kinds the classic histograms. */
export function storedOnce(series: readonly BucketSeries[]): BucketSeries[] {
  const classic = new Set(series.filter(({ isNative }) => !isNative).map(({ family }) => family));
  return series.filter(({ family, isNative }) => !isNative || !classic.has(family));
}

/**
 * The counts between the two edges of the time range. `startsAtZero`: a series that is only at the end counts from 0, as
 * its server was scraped at the start without it, or started since; unless it was stored in the other kind at the start. `reset`: families that were reset in between;
 * `restarted`: a process that Prometheus scraped before started anew in between.
 */
export function observedBetween(
  start: readonly BucketSeries[],
  end: readonly BucketSeries[],
  facts: { startsAtZero: boolean; restarted: boolean; reset: ReadonlySet<string> }
): Observed {
  const before = new Map(start.map((one) => [keyOf(one), one]));
  const estimated = new Set<string>(facts.restarted ? end.map(({ family }) => family) : facts.reset);
  const exact = end.flatMap((one): ObservedSeries[] => {
    const { family, labels, histogram } = one;
    const first = before.get(keyOf(one));
    const isKnown = first === undefined ? facts.startsAtZero : first.isNative === one.isNative;
    const delta = first === undefined ? { histogram, reset: false } : histogramDelta(first.histogram, histogram);
    if (!isKnown || delta === null || delta.reset) {
      estimated.add(family);
      return [];
    }
    return [{ family, labels, histogram: delta.histogram, exact: true }];
  });
  return { exact: exact.filter(({ family }) => !estimated.has(family)), estimated: [...estimated] };
}

/** Series of `increase()`, which hold nothing for certain. */
function estimatedSeries(series: readonly BucketSeries[]): ObservedSeries[] {
  return series.map((one) => ({ ...one, exact: false }));
}

function familyOf({ __name__: name = '' }: Record<string, string>): string {
  return name.replace(/_bucket$/, '');
}

/** The labels that distinguish the series of a family on one server. */
function ownLabels(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([label]) => !NOT_OF_SERIES.includes(label)));
}

function keyOf({ family, labels }: Pick<BucketSeries, 'family' | 'labels'>): string {
  return JSON.stringify([family, Object.entries(labels).sort()]);
}

/** The native histograms of a server at several moments. */
export interface NativeBuckets {
  /** Those of each moment. */
  moments: BucketSeries[][];
  /** By family: the schema of its exponential buckets; null for custom bounds. */
  schemas: Map<string, number | null>;
}

/**
 * Brings native histograms onto one grid per family, so that they can be subtracted and added. A bucket that was never
 * filled is no part of it. `family`: the name where the query took it away.
 */
export function nativeBuckets(
  moments: ReadonlyArray<readonly NativeSeries[]>,
  family: string | null = null
): NativeBuckets {
  const all = moments.flatMap((series, moment) => series.map((one) => ({ ...one, moment })));
  const byFamily = Map.groupBy(all, ({ labels }) => family ?? labels['__name__'] ?? '');
  const found: NativeBuckets = { moments: moments.map(() => []), schemas: new Map() };
  for (const [name, members] of byFamily) {
    const { bounds, schema, times, counts } = nativeRows({
      times: members.flatMap(({ cells }, i) => cells.times.map(() => i)),
      lows: members.flatMap(({ cells }) => cells.lows),
      highs: members.flatMap(({ cells }) => cells.highs),
      counts: members.flatMap(({ cells }) => cells.counts),
    });
    found.schemas.set(name, schema);
    members.forEach(({ labels, moment }, i) => {
      const row = times.indexOf(i);
      // A histogram without observations has no cells.
      const own = bounds.map((_, bucket) => (row < 0 ? 0 : (counts[row * bounds.length + bucket] ?? 0)));
      const histogram = { bounds, counts: own, sum: null };
      found.moments[moment]?.push({ family: name, isNative: true, labels: ownLabels(labels), histogram });
    });
  }
  return found;
}

/** How Prometheus stores a family: as native histograms with exponential buckets of a schema, or with custom bounds (null). */
export type Storage = { kind: 'classic' } | { kind: 'native'; schema: number | null };

/** A family of a server with the advice on its bounds. */
export interface AdvisedHistogram {
  stored: Storage;
  advice: FamilyAdvice;
  /** Null: no catalog describes it. */
  known: KnownHistogram | null;
}

/** What the histograms of a server leave uncertain. */
export interface ServerBuckets {
  systems: HistogramSystem[];
  /** Families with observations: shared quantities first. */
  families: AdvisedHistogram[];
  withoutObservations: string[];
  settings: BucketSetting[];
  /** Milliseconds since 1970 of the last scrape, where it was before the end of the time range. */
  lastScrape: number | null;
}

/**
 * Reads the buckets of a server at both edges of the time range, and computes the advice. The end of a server that was
 * not scraped at the end is its last scrape.
 */
export async function loadBuckets(prometheus: string, server: ListedServer, time: TimeSpan): Promise<ServerBuckets> {
  const { histogramName } = server;
  if (histogramName === null) {
    return { ...(await bucketsBetween(prometheus, server, time)), lastScrape: null };
  }
  const query = lastScrapeQuery(server, histogramName, secondsOf(time));
  const [last] = await queryPrometheus(prometheus, [query], time);
  const seconds = last?.values.at(-1);
  const lastScrape = seconds === undefined ? null : Math.round(seconds * 1000);
  const until = lastScrape === null ? time : { from: time.from, to: lastScrape };
  return { ...(await bucketsBetween(prometheus, server, until)), lastScrape };
}

const secondsOf = ({ from, to }: TimeSpan) => Math.max(1, Math.round((to - from) / 1000));

async function bucketsBetween(
  prometheus: string,
  server: ScrapedServer,
  time: TimeSpan
): Promise<Omit<ServerBuckets, 'lastScrape'>> {
  const rangeSeconds = secondsOf(time);
  const [start, end] = await Promise.all([
    queryBothKinds(prometheus, edgeQueries(server), { from: time.from, to: time.from }),
    queryBothKinds(prometheus, [...edgeQueries(server), ...serverFactQueries(server, rangeSeconds)], time),
  ]);
  const native = nativeBuckets([start.histograms, end.histograms]);
  const [atStart = [], atEnd = []] = [start, end].map(({ series }, edge) =>
    storedOnce([...bucketSeries(of(series, EDGE)), ...(native.moments[edge] ?? [])])
  );
  const families = new Map(atEnd.map(({ family, isNative }) => [family, { family, isNative }]));
  const resets =
    families.size === 0
      ? []
      : await queryPrometheus(prometheus, resetQueries(server, [...families.values()], rangeSeconds), time);
  const { exact, estimated } = observedBetween(atStart, atEnd, {
    startsAtZero: valueOf(start.series, UP) === 1 || (valueOf(end.series, STARTED) ?? 0) * 1000 >= time.from,
    restarted: (valueOf(end.series, STARTS) ?? 0) > 0,
    reset: new Set([...families.keys()].filter((family) => (valueOf(resets, family) ?? 0) > 0)),
  });
  const toEstimate = estimated.flatMap((family) => families.get(family) ?? []);
  const increases =
    toEstimate.length === 0
      ? { series: [], histograms: [] }
      : await queryBothKinds(prometheus, increaseQueries(server, toEstimate, rangeSeconds), time);
  const observed = [
    ...exact,
    ...toEstimate.flatMap(({ family, isNative }) =>
      estimatedSeries(
        isNative
          ? (nativeBuckets([increases.histograms.filter(({ refId }) => refId === family)], family).moments[0] ?? [])
          : bucketSeries(of(increases.series, family), family)
      )
    ),
  ];
  const names = of(end.series, NAMES).flatMap(({ labels }) => labels['__name__'] ?? []);
  const stored = (family: string): Storage => {
    const schema = native.schemas.get(family) ?? null;
    return families.get(family)?.isNative ? { kind: 'native', schema } : { kind: 'classic' };
  };
  return advised(systemsOfServer(names), [...families.keys()], observed, stored);
}

function advised(
  systems: HistogramSystem[],
  names: readonly string[],
  observed: Parameters<typeof familyAdvice>[0],
  storedAs: (family: string) => Storage
): Omit<ServerBuckets, 'lastScrape'> {
  const all = familyAdvice(observed, (name) => knownHistogram(systems, name)?.family.unit ?? null)
    .filter(({ groups }) => groups.length > 0)
    .map((advice): AdvisedHistogram => {
      const stored = storedAs(advice.family);
      const series = observed.filter(({ family }) => family === advice.family).length;
      const known = knownHistogram(systems, advice.family);
      return { stored, advice: stored.kind === 'native' ? ofNative(advice, stored.schema, series) : advice, known };
    });
  const shown = new Set(all.map(({ advice }) => advice.family));
  return {
    systems,
    families: all.sort((a, b) => orderOf(a) - orderOf(b) || a.advice.family.localeCompare(b.advice.family)),
    withoutObservations: names.filter((name) => !shown.has(name)),
    settings: systems.flatMap((system) =>
      bucketSettings(
        system.bucket_options ?? [],
        all
          // Of a native histogram only the bounds of filled buckets are known, and an option sets all of them.
          .filter(({ known, stored }) => known?.system === system && stored.kind === 'classic')
          .map(({ advice: { bounds, divided }, known }) => ({ family: known?.family.name ?? '', bounds, divided }))
      )
    ),
  };
}

/** A native histogram is one series whatever its bounds; none can be added to exponential ones. */
function ofNative(advice: FamilyAdvice, schema: number | null, series: number): FamilyAdvice {
  const stored = { ...advice, series, seriesAdded: 0 };
  return schema === null
    ? stored
    : { ...stored, divided: [], groups: advice.groups.map((group) => ({ ...group, divided: [] })) };
}

/** Quantities that several systems share come first. */
function orderOf({ known }: AdvisedHistogram): number {
  if (known === null) {
    return 2;
  }
  return known.family.quantity === null ? 1 : 0;
}

function of(series: readonly PrometheusSeries[], refId: string): PrometheusSeries[] {
  return series.filter((one) => one.refId === refId);
}

function valueOf(series: readonly PrometheusSeries[], refId: string): number | null {
  return of(series, refId)[0]?.values.at(-1) ?? null;
}
