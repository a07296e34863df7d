import { bucketSettings, type BucketSetting } from '../../../../core/histogram/bucket-setting.ts';
import { familyAdvice, type FamilyAdvice } from '../../../../core/histogram/bucket-advice.ts';
import { queryBothKinds, queryPrometheus, type PrometheusSeries, type TimeSpan } from '../../prometheus/query-prometheus.ts';
import { EDGE, edgeQueries, increaseQueries, lastScrapeQuery, NAMES, resetQueries, serverFactQueries, STARTED, STARTS, UP, type ScrapedServer } from './bucket-queries.ts';
import { nativeBuckets } from './native-series.ts';
import { bucketSeries, estimatedSeries, observedBetween, storedOnce } from './observed-series.ts';
import type { ListedServer } from './list-servers.ts';
import { knownHistogram, systemsOfServer, type HistogramSystem, type KnownHistogram } from '../../catalog/server-catalog.ts';

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
