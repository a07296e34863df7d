import { pause } from '../../clock/pause.ts';
import { reasonOf, ConfigurationError } from '../../errors/expected-error.ts';
import type { Collector } from '../scrape/collector.ts';
import type { Target } from '../scrape/targets.ts';
import { publicUrl } from '../../http-client/public-url.ts';

/** Pods of a Kubernetes namespace. */
export interface PodSearch {
  readonly kind: 'kubernetes';
  readonly namespace: string;
  /** A label selector, as the API of Kubernetes takes it. */
  readonly selector: string;
}

/** A URL of Prometheus' HTTP service discovery. */
export interface HttpSdSearch {
  readonly kind: 'http-sd';
  /** With user info and query: never displayed. */
  readonly url: string;
}

/** Where metrics pages are found when a command starts. */
export type PageSearch = PodSearch | HttpSdSearch;

/** More targets than this are a selection by mistake, unless an option allows them. */
export const MAX_PAGES = 256;

const KUBERNETES = 'k8s:';
const HTTP_SD = 'http-sd:';
/** A name of a namespace: RFC 1123. */
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Reads `k8s:NAMESPACE/SELECTOR` or `http-sd:URL`; null for anything else.
 * @throws Error with a message of one line that says what the value must be, without the value
 */
export function parsePageSearch(given: string): PageSearch | null {
  const text = given.trim();
  if (text.startsWith(KUBERNETES)) return podSearch(text.slice(KUBERNETES.length));
  if (text.startsWith(HTTP_SD)) return httpSdSearch(text.slice(HTTP_SD.length));
  return null;
}

/** The search as messages name it. */
export function searchName(search: PageSearch): string {
  return search.kind === 'http-sd'
    ? `${HTTP_SD}${publicUrl(search.url)}`
    : `${KUBERNETES}${search.namespace}/${search.selector}`;
}

/** Why a search has no pages. */
export const searchFailure = (search: PageSearch, reason: string): ConfigurationError =>
  new ConfigurationError(`--server-metrics ${searchName(search)}: ${reason}`);

function podSearch(text: string): PodSearch {
  const slash = text.indexOf('/');
  const [namespace, selector] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1).trim()];
  if (!NAMESPACE.test(namespace) || selector === '') {
    throw new Error(`${KUBERNETES}NAMESPACE/SELECTOR, such as ${KUBERNETES}inference/app=vllm`);
  }
  return { kind: 'kubernetes', namespace, selector };
}

function httpSdSearch(text: string): HttpSdSearch {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error(`${HTTP_SD}URL, such as ${HTTP_SD}http://prometheus-sd:8080/targets`);
  }
  return { kind: 'http-sd', url: url.href };
}

/** A search that finds other pages as servers start and end. */
export interface TargetSearch {
  /** For messages. */
  readonly name: string;
  /** What it found when the command started. */
  readonly found: readonly Target[];
  /** What it finds now; empty: nothing. Rejects with a message of one line. */
  readonly again: () => Promise<readonly Target[]>;
}

/** A page that a search found for the first time since, or no longer finds. */
export interface TargetChange {
  readonly at_ns: number;
  /** The URL without user info and query. */
  readonly target: string;
  readonly change: 'joined' | 'left';
}

/** A pod that starts is counted from its start, whenever it is found. Every shard of a run asks the same API. */
const REPEAT_SECONDS = 5;
/** Every page that was ever read is part of the result. */
const MAX_JOINED = 4 * MAX_PAGES;
/** Kept for the result. */
const MAX_CHANGES = 1000;

interface SearchWatchOptions {
  readonly collector: Pick<Collector, 'join'>;
  readonly now_ns: () => number;
  readonly report: (line: string) => void;
  /** After pages joined or left. */
  readonly changed?: () => void;
  readonly repeatSeconds?: number;
}

/** Repeats searches while a run lasts: the collector reads what joins, and goes on to read what left until it is gone. */
export class SearchWatch {
  readonly changes: TargetChange[] = [];
  readonly #searches: readonly TargetSearch[];
  readonly #options: SearchWatchOptions;
  readonly #ended = new AbortController();
  readonly #failing = new Set<TargetSearch>();
  /** By search, what it found last. */
  readonly #present: Map<TargetSearch, ReadonlyMap<string, Target>>;
  /** All that are read. */
  readonly #read: Set<string>;
  readonly #first: number;

  /** `read`: the URLs that the collector reads already. */
  constructor(searches: readonly TargetSearch[], read: readonly string[], options: SearchWatchOptions) {
    this.#searches = searches;
    this.#options = options;
    this.#present = new Map(searches.map((search) => [search, byUrl(search.found)]));
    this.#read = new Set(read);
    this.#first = this.#read.size;
  }

  start(): void {
    if (this.#searches.length > 0) void this.#watch();
  }

  /** A search that is under way is not waited for, and what it finds is not used. */
  stop(): void {
    this.#ended.abort();
  }

  /** When a page that still answers, or did, was found no more; null: it did not leave. */
  leftAt_ns(target: string): number | null {
    const last = this.changes.findLast((each) => each.target === target);
    return last?.change === 'left' ? last.at_ns : null;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ended;
    const { repeatSeconds = REPEAT_SECONDS } = this.#options;
    for (;;) {
      await pause(repeatSeconds * 1000, signal);
      if (signal.aborted) return;
      const before = this.changes.length;
      await Promise.all(this.#searches.map((search) => this.#repeat(search)));
      if (this.changes.length > before) this.#options.changed?.();
    }
  }

  async #repeat(search: TargetSearch): Promise<void> {
    const { report } = this.#options;
    try {
      const found = byUrl(await search.again());
      if (this.#ended.signal.aborted) return;
      if (this.#failing.delete(search)) report(`${search.name} responds again`);
      const before = this.#present.get(search) ?? new Map<string, Target>();
      this.#present.set(search, found);
      this.#add(
        search,
        [...found.values()].filter(({ url }) => !before.has(url)),
      );
      const left = [...before.values()].filter(({ url }) => !this.#isPresent(url));
      for (const target of left) this.#note(search, target, 'left');
    } catch (error) {
      if (this.#ended.signal.aborted || this.#failing.has(search)) return;
      this.#failing.add(search);
      report(`${reasonOf(error)}; the pages found before are still read, and the search is repeated`);
    }
  }

  #add(search: TargetSearch, appeared: readonly Target[]): void {
    const fresh = appeared.filter(({ url }) => !this.#read.has(url));
    const room = Math.max(0, MAX_JOINED - (this.#read.size - this.#first));
    if (fresh.length > room)
      this.#options.report(`${search.name}: more than ${MAX_JOINED} pages joined; further ones are not read`);
    const added = fresh.slice(0, room);
    for (const { url } of added) this.#read.add(url);
    this.#options.collector.join(added);
    for (const target of appeared) if (this.#read.has(target.url)) this.#note(search, target, 'joined');
  }

  #isPresent(url: string): boolean {
    return [...this.#present.values()].some((pages) => pages.has(url));
  }

  #note(search: TargetSearch, { name }: Target, change: TargetChange['change']): void {
    if (this.changes.length === MAX_CHANGES) return;
    this.changes.push({ at_ns: this.#options.now_ns(), target: name, change });
    this.#options.report(
      `${name} ${change === 'joined' ? 'joined: found by' : 'left: no longer found by'} ${search.name}`,
    );
  }
}

const byUrl = (targets: readonly Target[]): ReadonlyMap<string, Target> =>
  new Map(targets.map((target) => [target.url, target]));
