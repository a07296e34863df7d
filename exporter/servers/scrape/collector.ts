import { pause } from '../../clock/pause.ts';
import { DEFAULT_PAGE_LIMITS, PageClient, type PageLimits } from './page-request.ts';
import { TargetLoop, type LoopOptions } from './target-loop.ts';
import { DEFAULT_STORE_LIMITS } from '../series/target-store.ts';
import { withoutRepeats, type Target, OPEN_ACCESS, type PageAccess } from './targets.ts';

export interface CollectorOptions extends LoopOptions {
  readonly targets: readonly Target[];
  readonly pageLimits?: PageLimits;
}

/** Limit of the numbers kept for all targets together, 8 bytes each. */
const MAX_VALUES = 32_000_000;
/** Longest wait of the run for the scrapes at its edges; shorter for a target that never responded. */
const EDGE_TIMEOUT_MS = 5_000;
const FIRST_RESPONSE_TIMEOUT_MS = 2_000;

/** Scrapes all targets, each at its own interval. */
export class Collector {
  readonly #loops: TargetLoop[] = [];
  readonly #options: CollectorOptions;
  readonly #loopOptions: LoopOptions;
  /** One for the pages of the same credentials and certificates. */
  readonly #clients = new Map<PageAccess, PageClient>();
  /** Targets that did not respond to an edge scrape in time, with their number of scrapes at that moment. */
  readonly #overdue = new Map<TargetLoop, number>();
  #isStopped = false;

  constructor(options: CollectorOptions) {
    this.#options = options;
    const loops = this.#loops;
    const storeLimits = {
      maxSeries: DEFAULT_STORE_LIMITS.maxSeries,
      // Targets may be added later.
      get maxValues(): number {
        return Math.floor(MAX_VALUES / Math.max(1, loops.length));
      },
    };
    this.#loopOptions = { storeLimits, ...options };
    this.#addLoops(options.targets);
  }

  get loops(): readonly TargetLoop[] {
    return this.#loops;
  }

  /** Adds targets before the start, and scrapes them once. */
  async add(targets: readonly Target[]): Promise<void> {
    await this.#edgeOf(this.#addLoops(targets), FIRST_RESPONSE_TIMEOUT_MS);
  }

  /** Scrapes these too from now on, each at its interval. */
  join(targets: readonly Target[]): void {
    if (this.#isStopped) return;
    for (const loop of this.#addLoops(targets)) loop.start();
  }

  /** Scrapes these no more; they are no part of the collection. */
  async remove(loops: readonly TargetLoop[]): Promise<void> {
    const kept = this.#loops.filter((loop) => !loops.includes(loop));
    this.#loops.splice(0, Infinity, ...kept);
    await Promise.all(loops.map((loop) => loop.stop()));
  }

  #addLoops(targets: readonly Target[]): readonly TargetLoop[] {
    const added = withoutRepeats(targets).map(
      (target) => new TargetLoop(target, this.#clientFor(target), this.#loopOptions),
    );
    this.#loops.push(...added);
    return added;
  }

  /** Targets whose newest scrape succeeded. */
  get responding(): number {
    return this.#loops.filter(({ state }) => state === 'up').length;
  }

  get interval_ns(): number {
    return this.#options.interval_ns;
  }

  /** Thread time spent on collecting: receiving, parsing and storing. */
  get busySeconds(): number {
    return (
      ([...this.#clients.values()].reduce((sum, { busy_ns }) => sum + busy_ns, 0) +
        this.loops.reduce((sum, loop) => sum + loop.busy_ns, 0)) /
      1e9
    );
  }

  start(): void {
    // Staggered: the pages of many targets at once would delay the reading of response streams.
    for (const [i, loop] of this.loops.entries()) loop.start((i * this.interval_ns) / this.loops.length);
  }

  /**
   * Scrapes all targets at once, for an edge of the run; resolves when all responses have arrived or the time is up. A
   * target that did not respond in time is not waited for again until it has responded.
   */
  async scrapeEdge(): Promise<void> {
    const awaited = this.loops.filter((loop) => !this.isOverdue(loop));
    const answering = awaited.filter(({ state }) => state === 'up');
    const untried = awaited.filter(({ state, store }) => state === 'waiting' && store.scrapes === 0);
    await Promise.all([this.#edgeOf(answering, EDGE_TIMEOUT_MS), this.#edgeOf(untried, FIRST_RESPONSE_TIMEOUT_MS)]);
  }

  /** Whether this target did not respond to an edge scrape in time and has not responded since. */
  isOverdue(loop: TargetLoop): boolean {
    return this.#overdue.get(loop) === loop.store.scrapes;
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    const stopped = this.loops.map((loop) => loop.stop());
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
    await Promise.all(stopped);
  }

  #clientFor({ access = OPEN_ACCESS }: Target): PageClient {
    const known = this.#clients.get(access);
    if (known !== undefined) return known;
    const { pageLimits = DEFAULT_PAGE_LIMITS, now_ns } = this.#options;
    const client = new PageClient(pageLimits, now_ns, access);
    this.#clients.set(access, client);
    return client;
  }

  /** Resolves when all have responded or failed, or when the time is up. */
  async #edgeOf(loops: readonly TargetLoop[], timeout_ms: number): Promise<void> {
    if (loops.length === 0) return;
    const waiting = new AbortController();
    const timeout = pause(timeout_ms, waiting.signal);
    const missing = new Set(loops);
    const all = loops.map((loop) => loop.scrapeEdge().then(() => missing.delete(loop)));
    await Promise.race([Promise.all(all), timeout]);
    waiting.abort();
    for (const loop of missing) this.#overdue.set(loop, loop.store.scrapes);
  }
}
