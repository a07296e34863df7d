import { discoverLocal, localAddresses } from '../servers/discover-local.ts';
import { targetOfServer, withoutRepeats, type Target } from '../servers/targets.ts';
import type { ServerMetricsRequest } from './run-request.ts';

/** What a run reads: the pages of the servers that are benchmarked, and all of them, these included. */
export interface CollectedTargets {
  readonly mains: readonly Target[];
  readonly targets: readonly Target[];
}

/**
 * The servers' own pages, one for each origin, the pages that were named, and what answers on this machine when
 * that was asked for. Ports that are read anyway are not looked at: a look takes rows away from a page that drains.
 */
export async function collectedTargets(
  { targets: named, discoverLocal: looks }: Pick<ServerMetricsRequest, 'targets' | 'discoverLocal'>,
  origins: readonly string[],
  say: (line: string) => void,
  local: readonly string[] = localAddresses(),
): Promise<CollectedTargets> {
  const mains = withoutRepeats(origins.map((origin) => mainTarget(origin, named)));
  const known = withoutRepeats([...mains, ...named]);
  const read = new Set(known.map(({ url }) => port(url)));
  const found = looks ? await discoverLocal(local.filter((address) => !read.has(port(address)))) : [];
  for (const { name } of found) say(`found ${name}`);
  return { mains, targets: [...known, ...found] };
}

/** TensorRT-LLM's Prometheus page, when it was named, stands for the JSON beside it, which drains. */
function mainTarget(origin: string, named: readonly Target[]): Target {
  const prometheus = new URL('/prometheus/metrics', origin).href;
  return named.find(({ url }) => url === prometheus) ?? targetOfServer(origin);
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Host and port; all names of this machine's loopback are one. */
function port(url: string): string {
  const { protocol, hostname, port: given } = new URL(url);
  return `${LOOPBACK.has(hostname) ? 'loopback' : hostname}:${given || (protocol === 'https:' ? '443' : '80')}`;
}
