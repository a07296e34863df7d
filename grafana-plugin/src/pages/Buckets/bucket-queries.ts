import type { PrometheusTarget } from '../../prometheus/query-prometheus.ts';
import type { HistogramSystem } from '../../catalog/server-catalog.ts';

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
export const AT_EDGE = 'at-edge';
export const IN_RANGE = 'in-range';
export const NATIVE_AT_EDGE = 'native-at-edge';
export const NATIVE_IN_RANGE = 'native-in-range';

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
export function serversInRange(systems: readonly HistogramSystem[], rangeSeconds: number): PrometheusTarget[] {
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
