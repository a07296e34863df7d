import { SYSTEMS, type HistogramSystem } from '../../catalog/server-catalog.ts';
import {
  queryBothKinds,
  type PrometheusTarget,
  type PrometheusResponse,
  type PrometheusSeries,
  type TimeSpan,
} from '../../prometheus/query-prometheus.ts';

/** A server as Prometheus scrapes it. */
export interface ScrapedServer {
  job: string;
  instance: string;
}

export const EDGE = 'edge';
export const NATIVE = 'native';
export const UP = 'up';
export const NAMES = 'names';
export const STARTS = 'starts';
export const STARTED = 'started';
const AT_EDGE = 'at-edge';
const IN_RANGE = 'in-range';
const NATIVE_AT_EDGE = 'native-at-edge';
const NATIVE_IN_RANGE = 'native-in-range';

/** A search for the last sample looks at most at so many moments, so that it stays cheap over months. */
const MAX_MOMENTS = 50_000;

/** Observations at one edge of the time range in the histograms of a system: in classic ones by server, and native ones. */
export function serversAtEdge(systems: readonly HistogramSystem[]): PrometheusTarget[] {
  return [
    { refId: AT_EDGE, expr: `sum by (job, instance) (${totals(systems)})`, instant: true },
    { refId: NATIVE_AT_EDGE, expr: natives(systems), instant: true },
  ];
}

/** The same at any moment of the time range, with the names. */
function serversInRange(systems: readonly HistogramSystem[], rangeSeconds: number): PrometheusTarget[] {
  const last = (selector: string) => `last_over_time(${selector}[${rangeSeconds}s])`;
  return [
    { refId: IN_RANGE, expr: `group by (job, instance, __name__) (${last(totals(systems))})`, instant: true },
    { refId: NATIVE_IN_RANGE, expr: last(natives(systems)), instant: true },
  ];
}

/**
 * When a histogram of a server was scraped last in the time range, in seconds since 1970. `name`: of its buckets or of the
 * native histogram.
 */
export function lastScrapeQuery(server: ScrapedServer, name: string, rangeSeconds: number): PrometheusTarget {
  const stepSeconds = Math.ceil(rangeSeconds / MAX_MOMENTS);
  const times = `max(timestamp({__name__=${quoted(name)},le=~"|[+]Inf",${matchers(server)}}))`;
  return { refId: 'last', expr: `max_over_time(${times}[${rangeSeconds}s:${stepSeconds}s])`, instant: true };
}

/** All buckets and native histograms of a server at one edge of the time range, and whether it was scraped then. */
export function edgeQueries(server: ScrapedServer): PrometheusTarget[] {
  return [
    { refId: EDGE, expr: `{__name__=~".+_bucket",${matchers(server)}}`, instant: true },
    { refId: NATIVE, expr: `{${NOT_OF_CLASSIC},${matchers(server)}}`, instant: true },
    { refId: UP, expr: `up{${matchers(server)}}`, instant: true },
  ];
}

/** The names of a server's families, how often its process started in the time range, and when it started last. */
export function serverFactQueries(server: ScrapedServer, rangeSeconds: number): PrometheusTarget[] {
  return [
    { refId: NAMES, expr: `count by (__name__) ({${matchers(server)}})`, instant: true },
    {
      refId: STARTS,
      expr: `sum(changes(process_start_time_seconds{${matchers(server)}}[${rangeSeconds}s]))`,
      instant: true,
    },
    { refId: STARTED, expr: `min(process_start_time_seconds{${matchers(server)}})`, instant: true },
  ];
}

/** How often the buckets of each family were reset in the time range; the refId is the family. */
export function resetQueries(
  server: ScrapedServer,
  families: readonly StoredFamily[],
  rangeSeconds: number
): PrometheusTarget[] {
  return families.map((stored) => ({
    refId: stored.family,
    expr: `sum(resets(${bucketsOf(stored, server)}[${rangeSeconds}s]))`,
    instant: true,
  }));
}

/** The estimated increase of the buckets of each family over the time range; the refId is the family. */
export function increaseQueries(
  server: ScrapedServer,
  families: readonly StoredFamily[],
  rangeSeconds: number
): PrometheusTarget[] {
  return families.map((stored) => ({
    refId: stored.family,
    expr: `increase(${bucketsOf(stored, server)}[${rangeSeconds}s])`,
    instant: true,
  }));
}

/** A histogram family and whether Prometheus stores it as native histograms. */
export interface StoredFamily {
  family: string;
  isNative: boolean;
}

function bucketsOf({ family, isNative }: StoredFamily, server: ScrapedServer): string {
  return `{__name__=${quoted(isNative ? family : `${family}_bucket`)},${matchers(server)}}`;
}

function matchers({ job, instance }: ScrapedServer): string {
  return `job=${quoted(job)},instance=${quoted(instance)}`;
}

/** The total counts of the classic histograms that name a system. */
function totals(systems: readonly HistogramSystem[]): string {
  return `{__name__=~"(${beginnings(systems)}).*_bucket",le="+Inf"}`;
}

/**
 * The native histograms that name a system, and other series without `le`, whose answers differ. No function of native
 * histograms distinguishes them, so that the query is valid also where they are unknown.
 */
function natives(systems: readonly HistogramSystem[]): string {
  return `{__name__=~"(${beginnings(systems)}).*",${NOT_OF_CLASSIC}}`;
}

const NOT_OF_CLASSIC = '__name__!~".+_(bucket|sum|count|created|info)"';

function beginnings(systems: readonly HistogramSystem[]): string {
  return [...new Set(systems.flatMap(({ presence }) => presence))].map(pattern).join('|');
}

function quoted(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** A beginning of a name in a regular expression: colons may have become underscores. */
function pattern(name: string): string {
  return name.replaceAll(/[:_]/g, '[:_]');
}

/** A server of the time range. */
export interface ListedServer extends ScrapedServer {
  /**
   * Of a server that was not scraped at the end of the time range: the name of the buckets of one of its histograms, or of
   * a native one.
   */
  histogramName: string | null;
}

/**
 * The servers of the time range: first those that are scraped at its end, of them first those that served requests, of them
 * first those with counts at its start.
 */
export async function listServers(prometheus: string, time: TimeSpan): Promise<ListedServer[]> {
  const rangeSeconds = Math.max(1, Math.round((time.to - time.from) / 1000));
  const atEdge = serversAtEdge(SYSTEMS);
  const [start, end] = await Promise.all([
    queryBothKinds(prometheus, atEdge, { from: time.from, to: time.from }),
    queryBothKinds(prometheus, [...atEdge, ...serversInRange(SYSTEMS, rangeSeconds)], time),
  ]);
  return orderedServers({
    atStart: found(start, AT_EDGE, NATIVE_AT_EDGE),
    inRange: found(end, IN_RANGE, NATIVE_IN_RANGE),
    atEnd: found(end, AT_EDGE, NATIVE_AT_EDGE),
  });
}

/** The series of the query for classic histograms, and the histograms of that for native ones. */
function found({ series, histograms }: PrometheusResponse, classic: string, native: string): Counted[] {
  return [
    ...series
      .filter(({ refId }) => refId === classic)
      .map(({ labels, values }) => ({ labels, count: values.at(-1) ?? 0 })),
    ...histograms
      .filter(({ refId }) => refId === native)
      .map(({ labels, cells }) => ({ labels, count: cells.counts.reduce((sum, count) => sum + count, 0) })),
  ];
}

type Labeled = Pick<PrometheusSeries, 'labels'>;

/** Observations of some histograms of a server. */
interface Counted extends Labeled {
  count: number;
}

interface Found {
  atStart: readonly Counted[];
  /** A scrape at the end of the time range may be older than its start. */
  inRange: readonly Labeled[];
  atEnd: readonly Counted[];
}

export function orderedServers({ atStart, inRange, atEnd }: Found): ListedServer[] {
  const [known, alive] = [countsOf(atStart), countsOf(atEnd)];
  const all = new Map([...inRange, ...atEnd].map((series) => [keyOfSeries(series), serverOf(series)]));
  const names = new Map(inRange.map((series) => [keyOfSeries(series), series.labels['__name__'] ?? null]));
  // After a restart the counts differ, too.
  const served = (key: string) => (alive.get(key) ?? 0) !== (known.get(key) ?? 0);
  const rank = (key: string) => Number(!alive.has(key)) * 4 + Number(!served(key)) * 2 + Number(!known.has(key));
  return [...all]
    .sort(([i, a], [j, b]) => rank(i) - rank(j) || a.instance.localeCompare(b.instance) || a.job.localeCompare(b.job))
    .map(([key, server]) => ({ ...server, histogramName: alive.has(key) ? null : (names.get(key) ?? null) }));
}

/** Observations by server. */
function countsOf(series: readonly Counted[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const each of series) {
    const key = keyOfSeries(each);
    counts.set(key, (counts.get(key) ?? 0) + each.count);
  }
  return counts;
}

/** A server that several jobs scrape is one server: the chosen job, else the first. */
export function onePerInstance(servers: readonly ListedServer[], chosen: ListedServer | undefined): ListedServer[] {
  const all = chosen ? [chosen, ...servers] : servers;
  const shown = new Set(new Map([...all].reverse().map((server) => [server.instance, server])).values());
  return servers.filter((server) => shown.has(server));
}

export function serverKey({ job, instance }: ScrapedServer): string {
  return `${job}/${instance}`;
}

const keyOfSeries = (series: Labeled) => serverKey(serverOf(series));

function serverOf({ labels }: Labeled): ScrapedServer {
  return { job: labels['job'] ?? '', instance: labels['instance'] ?? '' };
}
