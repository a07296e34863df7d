import {
  type PrometheusResponse,
  type PrometheusSeries,
  queryBothKinds,
  type TimeSpan,
} from '../../prometheus/query-prometheus.ts';
import {
  AT_EDGE,
  IN_RANGE,
  NATIVE_AT_EDGE,
  NATIVE_IN_RANGE,
  type ScrapedServer,
  serversAtEdge,
  serversInRange,
} from './bucket-queries.ts';
import { SYSTEMS } from '../../catalog/server-catalog.ts';

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
