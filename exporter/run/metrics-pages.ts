import type { RequestTarget } from '../load/transports/target.ts';
import { discoverLocal, localAddresses } from '../servers/scrape/discover-local.ts';
import { readNamedPages } from '../servers/scrape/named-pages.ts';
import { NO_CREDENTIALS, readPageAccess, type PageAccess } from '../servers/scrape/page-access.ts';
import { targetOfServer, withoutRepeats, type Target } from '../servers/scrape/targets.ts';
import type { RunRequest } from './run-request.ts';

/** Which metrics pages a run reads, and with which credentials. */
export interface MetricsPages {
  /** Of the benchmarked servers. Behind a unix socket there is none: the URL is only a name. */
  readonly origins: readonly string[];
  /** Prefixes of their APIs' paths by origin; absent: none has one. */
  readonly prefixes?: ReadonlyMap<string, string>;
  /** For the pages of the benchmarked servers. */
  readonly access: PageAccess;
  readonly named: readonly Target[];
}

/** Reads the files and variables that the request names. Throws a `ConfigurationError` before anything is sent. */
export async function readMetricsPages(
  { serverMetrics, metricsCredentials = NO_CREDENTIALS, traffic }: RunRequest,
  servers: readonly RequestTarget[],
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<MetricsPages> {
  const { tls, unixSocket } = traffic.connection;
  const reached = unixSocket === null ? servers : [];
  const origins = reached.map(({ origin }) => origin);
  const maxFoundPages = serverMetrics?.maxFoundPages;
  const common = { credentials: metricsCredentials, tls, ...(maxFoundPages !== undefined && { maxFoundPages }) };
  return {
    origins,
    prefixes: new Map(reached.map(({ origin, prefix }) => [origin, prefix])),
    access: await readPageAccess(metricsCredentials, tls, environment),
    named: await readNamedPages(serverMetrics?.targets ?? [], common, origins, environment, say),
  };
}

/** The pages that a run scrapes: those of the benchmarked servers, and all of them, these included. */
export interface CollectedTargets {
  readonly mains: readonly Target[];
  readonly targets: readonly Target[];
  /** Those of `targets` that were found on this machine. */
  readonly found: readonly Target[];
}

/**
 * The servers' own pages, one for each origin, the configured pages, and the local pages that respond when discovery is
 * enabled. Ports that are scraped anyway are not probed: a probe removes rows from a page that drains.
 */
export async function collectedTargets(
  looks: boolean,
  { origins, access, named }: MetricsPages,
  say: (line: string) => void,
  local: readonly string[] = localAddresses(),
): Promise<CollectedTargets> {
  const mains = withoutRepeats(origins.map((origin) => mainTarget(origin, access, named)));
  const known = withoutRepeats([...mains, ...named]);
  const read = new Set(known.map(({ url }) => port(url)));
  const found = looks ? await discoverLocal(local.filter((address) => !read.has(port(address)))) : [];
  for (const { name } of found) say(`found ${name}`);
  return { mains, targets: [...known, ...found], found };
}

/** A configured Prometheus page of TensorRT-LLM replaces the JSON page beside it, which drains. */
function mainTarget(origin: string, access: PageAccess, named: readonly Target[]): Target {
  const prometheus = new URL('/prometheus/metrics', origin).href;
  return named.find(({ url }) => url === prometheus) ?? targetOfServer(origin, access);
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Host and port; all names of this machine's loopback interface are equal. */
function port(url: string): string {
  const { protocol, hostname, port: given } = new URL(url);
  return `${LOOPBACK.has(hostname) ? 'loopback' : hostname}:${given || (protocol === 'https:' ? '443' : '80')}`;
}
