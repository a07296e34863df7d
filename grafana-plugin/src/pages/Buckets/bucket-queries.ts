import type { PrometheusTarget } from '../../prometheus/query-prometheus.ts';
import type { HistogramSystem } from './server-catalog.ts';

/** A server as Prometheus scrapes it. */
export interface ScrapedServer {
  job: string;
  instance: string;
}

export const EDGE = 'edge';
export const UP = 'up';
export const NAMES = 'names';
export const STARTS = 'starts';
export const STARTED = 'started';
export const AT_EDGE = 'at-edge';
export const IN_RANGE = 'in-range';

/** A search for the last sample looks at most at so many moments, so that it stays cheap over months. */
const MOST_MOMENTS = 50_000;

/** The servers with a histogram of a system at one edge of the time range. */
export function serversAtEdge(systems: readonly HistogramSystem[]): PrometheusTarget {
  return { refId: AT_EDGE, expr: `group by (job, instance) (${totals(systems)})`, instant: true };
}

/** The servers with a histogram of a system at any moment of the time range, with the names of these histograms. */
export function serversInRange(systems: readonly HistogramSystem[], rangeSeconds: number): PrometheusTarget {
  const expr = `group by (job, instance, __name__) (last_over_time(${totals(systems)}[${rangeSeconds}s]))`;
  return { refId: IN_RANGE, expr, instant: true };
}

/** When a histogram of a server was scraped last in the time range, in seconds since 1970. `name`: of its buckets. */
export function lastScrapeQuery(server: ScrapedServer, name: string, rangeSeconds: number): PrometheusTarget {
  const stepSeconds = Math.ceil(rangeSeconds / MOST_MOMENTS);
  const times = `max(timestamp({__name__=${quoted(name)},le="+Inf",${matchers(server)}}))`;
  return { refId: 'last', expr: `max_over_time(${times}[${rangeSeconds}s:${stepSeconds}s])`, instant: true };
}

/** All buckets of a server at one edge of the time range, and whether it was scraped then. */
export function edgeQueries(server: ScrapedServer): PrometheusTarget[] {
  return [
    { refId: EDGE, expr: `{__name__=~".+_bucket",${matchers(server)}}`, instant: true },
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
  families: readonly string[],
  rangeSeconds: number
): PrometheusTarget[] {
  return families.map((family) => ({
    refId: family,
    expr: `sum(resets({__name__="${family}_bucket",${matchers(server)}}[${rangeSeconds}s]))`,
    instant: true,
  }));
}

/** The estimated increase of the buckets of each family over the time range; the refId is the family. */
export function increaseQueries(
  server: ScrapedServer,
  families: readonly string[],
  rangeSeconds: number
): PrometheusTarget[] {
  return families.map((family) => ({
    refId: family,
    expr: `increase({__name__="${family}_bucket",${matchers(server)}}[${rangeSeconds}s])`,
    instant: true,
  }));
}

function matchers({ job, instance }: ScrapedServer): string {
  return `job=${quoted(job)},instance=${quoted(instance)}`;
}

/** The total counts of the histograms that name a system. */
function totals(systems: readonly HistogramSystem[]): string {
  const names = [...new Set(systems.flatMap(({ presence }) => presence))].map(pattern).join('|');
  return `{__name__=~"(${names}).*_bucket",le="+Inf"}`;
}

function quoted(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** A beginning of a name in a regular expression: colons may have become underscores. */
function pattern(name: string): string {
  return name.replaceAll(/[:_]/g, '[:_]');
}
