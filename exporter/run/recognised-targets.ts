import { recogniseServer } from '../servers/recognise.ts';
import type { TargetLoop } from '../servers/target-loop.ts';
import type { Target } from '../servers/targets.ts';

/** What the pages of a run's servers told. */
export interface RecognisedTargets {
  /** The catalog of the servers that are benchmarked; null: no page tells. */
  readonly system: string | null;
  /** Pages that Prometheus can read too. */
  readonly urls: readonly string[];
}

/** These have pages and answer no requests: a run is never against them. */
const NOT_SERVING: ReadonlySet<string> = new Set(['dcgm', 'kvbm', 'lmcache']);

type Seen = Pick<TargetLoop, 'target' | 'system' | 'state' | 'drains' | 'readUrl'>;

/**
 * The system is what the servers' own pages are of, else the pages that were named (`triton=host`), the first that
 * serves requests; what was merely found on this machine says nothing of this run. A named page is listed before it answers.
 */
export function recognisedTargets(
  loops: readonly Seen[],
  mains: readonly Target[],
  named: readonly Target[],
): RecognisedTargets {
  const isNamed = ({ target: { url } }: Seen): boolean => named.some((each) => each.url === url);
  const isMain = ({ target }: Seen): boolean => mains.some(({ url }) => target.url === url);
  const inOrder = [...loops.filter(isMain), ...loops.filter((loop) => !isMain(loop) && isNamed(loop))];
  const system = inOrder.map((loop) => loop.system).find((each) => each !== null && !NOT_SERVING.has(each)) ?? null;
  const wasRead = ({ state }: Seen): boolean => state === 'up' || state === 'gone';
  const mayCome = (loop: Seen): boolean => isNamed(loop) && loop.state !== 'not_metrics';
  const readable = loops.filter((loop) => !loop.drains && (wasRead(loop) || mayCome(loop)));
  return { system, urls: [...new Set(readable.map(({ readUrl }) => readUrl))] };
}

/** The same from one look at each server's page, when their metrics are otherwise left alone. */
export async function recognisedAt(origins: readonly string[]): Promise<RecognisedTargets> {
  const pages = (await Promise.all(origins.map(recogniseServer))).filter((page) => page !== null);
  const system = pages.map((page) => page.system).find((each) => each !== null) ?? null;
  return { system, urls: pages.map(({ metricsUrl }) => metricsUrl) };
}
