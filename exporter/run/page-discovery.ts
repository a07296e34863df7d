import { OWN_PLACES, ownPages, pagesBelow, pagesBeside, type DefaultPage } from '../servers/scrape/default-pages.ts';
import { discoverDefaultPages } from '../servers/scrape/discover-default.ts';
import { NEEDS_SWITCH, pageHint } from '../servers/scrape/page-hint.ts';
import type { TargetLoop } from '../servers/scrape/target-loop.ts';
import type { Target } from '../servers/scrape/targets.ts';
import type { MetricsPages } from './metrics-pages.ts';

/** Pages found at default ports of the benchmarked hosts. */
export interface DiscoveredPages {
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
