import { recogniseServer } from '../servers/recognise.ts';
import type { TargetLoop } from '../servers/target-loop.ts';
import type { Target } from '../servers/targets.ts';

/** What the pages of a run's servers told. */
export interface RecognisedTargets {
  /** The catalog of the server that is benchmarked; null: no page tells. */
  readonly system: string | null;
  /** Pages that Prometheus can read too. */
  readonly urls: readonly string[];
}

/** These have pages and answer no requests: a run is never against them. */
const NOT_SERVING: ReadonlySet<string> = new Set(['dcgm', 'kvbm', 'lmcache']);

type Seen = Pick<TargetLoop, 'target' | 'system' | 'state' | 'drains' | 'readUrl'>;

/**
 * The system is what the server's own page is of, else of the pages that were named (`triton=host`), the first that
 * serves requests; what was merely found on this machine says nothing of this run. A named page is listed before it answers.
 */
export function recognisedTargets(
  loops: readonly Seen[],
  main: Target | null,
  named: readonly Target[],
): RecognisedTargets {
  const isNamed = ({ target: { url } }: Seen): boolean => named.some((each) => each.url === url);
  const isMain = ({ target }: Seen): boolean => target.url === main?.url;
  const inOrder = [...loops.filter(isMain), ...loops.filter((loop) => !isMain(loop) && isNamed(loop))];
  const system = inOrder.map((loop) => loop.system).find((each) => each !== null && !NOT_SERVING.has(each)) ?? null;
  const wasRead = ({ state }: Seen): boolean => state === 'up' || state === 'gone';
  const mayCome = (loop: Seen): boolean => isNamed(loop) && loop.state !== 'not_metrics';
  const readable = loops.filter((loop) => !loop.drains && (wasRead(loop) || mayCome(loop)));
  return { system, urls: [...new Set(readable.map(({ readUrl }) => readUrl))] };
}

/** The same from one look at the server's page, when its metrics are otherwise left alone. */
export async function recognisedAt(origin: string | null): Promise<RecognisedTargets> {
  const server = origin === null ? null : await recogniseServer(origin);
  return { system: server?.system ?? null, urls: server === null ? [] : [server.metricsUrl] };
}
