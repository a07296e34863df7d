import type { RequestTarget } from '../load/transports/target.ts';
import type { ScrapedTarget } from '../publish/target-info.ts';
import {
  OWN_PLACES,
  ownPages,
  pagesBelow,
  pagesBeside,
  discoverDefaultPages,
  discoverLocal,
  localAddresses,
  type DefaultPage,
} from '../servers/scrape/discover.ts';
import type { TargetSearch } from '../servers/discovery/search-watch.ts';
import { readNamedPages } from '../servers/scrape/named-pages.ts';
import { NEEDS_SWITCH, pageHint, recognizeServer } from '../servers/scrape/recognize.ts';
import type { TargetLoop } from '../servers/scrape/target-loop.ts';
import {
  targetOfServer,
  withoutRepeats,
  type Target,
  NO_CREDENTIALS,
  readPageAccess,
  type PageAccess,
} from '../servers/scrape/targets.ts';
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
  /** Those that found some of the named pages; absent: none. */
  readonly searches?: readonly TargetSearch[];
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
  const { targets, searches } = await readNamedPages(serverMetrics?.targets ?? [], common, origins, environment, say);
  return {
    origins,
    prefixes: new Map(reached.map(({ origin, prefix }) => [origin, prefix])),
    access: await readPageAccess(metricsCredentials, tls, environment),
    named: targets,
    searches,
  };
}

/** The pages that a run scrapes: those of the benchmarked servers, and all of them, these included. */
interface CollectedTargets {
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

/** Pages found at default ports of the benchmarked hosts. */
interface DiscoveredPages {
  /** Pages of the benchmarked servers themselves. */
  readonly own: readonly Target[];
  /** Pages of components beside them. */
  readonly beside: readonly Target[];
}

type OwnLoop = Pick<TargetLoop, 'target' | 'state' | 'system'>;

/**
 * Searches the default ports of the benchmarked hosts for pages that nothing reads yet, once. `loops`: those of the
 * servers' own pages, after their first scrape.
 */
export class PageDiscovery {
  readonly #pages: MetricsPages;
  readonly #say: (line: string) => void;

  constructor(pages: MetricsPages, say: (line: string) => void) {
    this.#pages = pages;
    this.#say = say;
  }

  /** Advice for a page that was refused; when its default places are tried next, that. */
  hint(message: string, target: Target): string | null {
    if (message !== 'HTTP 404' || !this.#searchesOwn(target)) return pageHint(message, target);
    const { origin } = new URL(target.url);
    const below = pagesBelow(origin, this.#prefixOf(origin)).map(({ url }) => new URL(url).pathname);
    return `trying ${[...below, ...OWN_PLACES].join(', ')} on this host`;
  }

  async search(loops: readonly OwnLoop[]): Promise<DiscoveredPages> {
    const { named, origins, access } = this.#pages;
    const read = new Set([...named, ...loops.map(({ target }) => target)].map(({ url }) => url));
    const wanted = new Map(loops.flatMap((loop) => this.#toTry(loop)).map((page) => [page.url, page]));
    const pages = [...wanted.values()].filter(({ url }) => !read.has(url));
    const found = await discoverDefaultPages(pages, origins, access);
    const texts = found.map(({ target: { system, name } }) => (system === null ? name : `${system} at ${name}`));
    if (texts.length > 0) this.#say(`found metrics of ${texts.join(' and ')} (--no-discovery disables the search)`);
    else if (pages.some(({ isOwn }) => isOwn)) this.#say(`no metrics page was found there; ${NEEDS_SWITCH}`);
    const targets = (isOwn: boolean): Target[] =>
      found.filter(({ page }) => page.isOwn === isOwn).map(({ target }) => target);
    return { own: targets(true), beside: targets(false) };
  }

  #toTry({ target, state, system }: OwnLoop): readonly DefaultPage[] {
    const { origin } = new URL(target.url);
    const below = this.#searchesOwn(target) ? pagesBelow(origin, this.#prefixOf(origin)) : [];
    // An ingress may have a page of its own in the place of the server's.
    if (state === 'up') return [...(system === null ? below : []), ...pagesBeside(origin, system)];
    if (state !== 'not_metrics') return [];
    return [...below, ...(this.#searchesOwn(target) ? ownPages(origin) : []), ...pagesBeside(origin, null)];
  }

  #prefixOf(origin: string): string {
    return this.#pages.prefixes?.get(origin) ?? '';
  }

  /** Not when the user has named a page on that host: it is the server's. */
  #searchesOwn({ url }: Target): boolean {
    const host = new URL(url).hostname;
    return this.#pages.named.every((page) => new URL(page.url).hostname !== host);
  }
}

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
