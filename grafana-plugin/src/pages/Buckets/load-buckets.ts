import { bucketSettings, type BucketSetting } from '../../../../core/histogram/bucket-setting.ts';
import { type FamilyAdvice, familyAdvice } from '../../../../core/histogram/family-advice.ts';
import { type PrometheusSeries, queryPrometheus, type TimeSpan } from '../../prometheus/query-prometheus.ts';
import {
  EDGE,
  edgeQueries,
  increaseQueries,
  lastScrapeQuery,
  NAMES,
  resetQueries,
  type ScrapedServer,
  serverFactQueries,
  STARTED,
  STARTS,
  UP,
} from './bucket-queries.ts';
import { bucketSeries, estimatedSeries, observedBetween } from './observed-series.ts';
import type { ListedServer } from './list-servers.ts';
import { type HistogramSystem, type KnownHistogram, knownHistogram, systemsOfServer } from './server-catalog.ts';

/** A family of a server with the advice on its bounds. */
export interface AdvisedHistogram {
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
  const { bucketName } = server;
  if (bucketName === null) {
    return { ...(await bucketsBetween(prometheus, server, time)), lastScrape: null };
  }
  const query = lastScrapeQuery(server, bucketName, secondsOf(time));
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
    queryPrometheus(prometheus, edgeQueries(server), { from: time.from, to: time.from }),
    queryPrometheus(prometheus, [...edgeQueries(server), ...serverFactQueries(server, rangeSeconds)], time),
  ]);
  const atEnd = bucketSeries(of(end, EDGE));
  const families = [...new Set(atEnd.map(({ family }) => family))];
  const resets =
    families.length === 0 ? [] : await queryPrometheus(prometheus, resetQueries(server, families, rangeSeconds), time);
  const { exact, estimated } = observedBetween(bucketSeries(of(start, EDGE)), atEnd, {
    startsAtZero: valueOf(start, UP) === 1 || (valueOf(end, STARTED) ?? 0) * 1000 >= time.from,
    restarted: (valueOf(end, STARTS) ?? 0) > 0,
    reset: new Set(families.filter((family) => (valueOf(resets, family) ?? 0) > 0)),
  });
  const increases =
    estimated.length === 0
      ? []
      : await queryPrometheus(prometheus, increaseQueries(server, estimated, rangeSeconds), time);
  const observed = [
    ...exact,
    ...estimated.flatMap((family) => estimatedSeries(bucketSeries(of(increases, family), family))),
  ];
  const names = of(end, NAMES).flatMap(({ labels }) => labels['__name__'] ?? []);
  return advised(systemsOfServer(names), families, observed);
}

function advised(
  systems: HistogramSystem[],
  names: readonly string[],
  observed: Parameters<typeof familyAdvice>[0]
): Omit<ServerBuckets, 'lastScrape'> {
  const all = familyAdvice(observed, (name) => knownHistogram(systems, name)?.family.unit ?? null)
    .filter(({ groups }) => groups.length > 0)
    .map((advice): AdvisedHistogram => ({ advice, known: knownHistogram(systems, advice.family) }));
  const shown = new Set(all.map(({ advice }) => advice.family));
  return {
    systems,
    families: all.sort((a, b) => orderOf(a) - orderOf(b) || a.advice.family.localeCompare(b.advice.family)),
    withoutObservations: names.filter((name) => !shown.has(name)),
    settings: systems.flatMap((system) =>
      bucketSettings(
        system.bucket_options ?? [],
        all
          .filter(({ known }) => known?.system === system)
          .map(({ advice: { bounds, divided }, known }) => ({ family: known?.family.name ?? '', bounds, divided }))
      )
    ),
  };
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
