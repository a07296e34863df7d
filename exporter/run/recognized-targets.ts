import type { ScrapedTarget } from '../publish/target-info.ts';
import type { PageAccess } from '../servers/scrape/page-access.ts';
import { recognizeServer } from '../servers/scrape/recognize.ts';
import type { TargetLoop } from '../servers/scrape/target-loop.ts';
import type { Target } from '../servers/scrape/targets.ts';

/** What the pages of a run's servers report. */
export interface RecognizedTargets {
  /** The catalog of the benchmarked servers; null: no page identifies it. */
  readonly system: string | null;
  /** Pages that Prometheus can scrape too. */
  readonly urls: readonly string[];
  /** Pages that have been read. */
  readonly read: readonly ScrapedTarget[];
}

/** These have pages but serve no inference requests: they are never the benchmarked server. */
const NOT_SERVING: ReadonlySet<string> = new Set(['dcgm', 'amd-gpu', 'kvbm', 'lmcache']);

/** Which of the targets the user named, among them the pages of the benchmarked servers. */
export interface KnownTargets {
  readonly mains: readonly Target[];
  readonly named: readonly Target[];
}

type Seen = Pick<TargetLoop, 'target' | 'system' | 'state' | 'drains' | 'readUrl'>;

/**
 * The system is that of the servers' own pages, else that of the configured pages (`triton=host`): the first that
 * serves requests. A page that was only discovered on this machine says nothing about this run. A configured page is
 * listed before it responds.
 */
export function recognizedTargets(loops: readonly Seen[], { mains, named }: KnownTargets): RecognizedTargets {
  const isNamed = ({ target: { url } }: Seen): boolean => named.some((each) => each.url === url);
  const isMain = ({ target }: Seen): boolean => mains.some(({ url }) => target.url === url);
  const inOrder = [...loops.filter(isMain), ...loops.filter((loop) => !isMain(loop) && isNamed(loop))];
  const system = inOrder.map((loop) => loop.system).find((each) => each !== null && !NOT_SERVING.has(each)) ?? null;
  const wasRead = ({ state }: Seen): boolean => state === 'up' || state === 'gone';
  const mayCome = (loop: Seen): boolean => isNamed(loop) && loop.state !== 'not_metrics';
  const readable = loops.filter((loop) => !loop.drains && (wasRead(loop) || mayCome(loop)));
  const read = loops.filter(wasRead).map((loop) => ({ target: loop.target.name, system: loop.system }));
  return { system, urls: [...new Set(readable.map(({ readUrl }) => readUrl))], read };
}

/** The same from one scrape of each server's page, when their metrics are not collected. */
export async function recognizedAt(origins: readonly string[], access: PageAccess): Promise<RecognizedTargets> {
  const pages = (await Promise.all(origins.map((origin) => recognizeServer(origin, access)))).filter(
    (page) => page !== null,
  );
  const system = pages.map((page) => page.system).find((each) => each !== null) ?? null;
  const read = pages.map((page) => ({ target: page.metricsUrl, system: page.system }));
  return { system, urls: read.map(({ target }) => target), read };
}
