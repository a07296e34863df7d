import { discoverLocal, localAddresses } from '../servers/scrape/discover-local.ts';
import type { PageAccess } from '../servers/scrape/page-access.ts';
import { targetOfServer, withoutRepeats, type Target } from '../servers/scrape/targets.ts';
import type { MetricsPages } from './metrics-pages.ts';

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
