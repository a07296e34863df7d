import { PageReader } from './page-reader.ts';
import type { FailedPage, PageOutcome } from './page-reader.ts';
import type { PageClient } from './page-request.ts';
import type { Exposition } from '../../../core/exposition/index.ts';
import { pageHint, systemOfExposition } from './recognize.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import type { Target } from './targets.ts';
import type { BlockStorage } from '../series/packed-rows.ts';
import { TargetStore, type StoreLimits } from '../series/target-store.ts';
import { workNow_ns } from '../../clock/monotonic-clock.ts';

/** waiting: not reached yet; gone: was reached before; the last two are not scraped again. */
export type TargetState = 'waiting' | 'up' | 'gone' | 'not_metrics' | 'several_servers';

/** Largest share of the time that scraping may take: a slower scrape lengthens the interval. */
const MAX_SHARE_OF_INTERVAL = 1 / 5;
const MAX_INTERVAL_NS = 300e9;
/** A scrape aborted by the end of the collection counts as failed from this age on. */
const LATE_NS = 1e9;

export interface LoopOptions {
  readonly interval_ns: number;
  readonly now_ns: () => number;
  /** Reports one line to the user; each message of a target is reported once. */
  readonly report: (line: string) => void;
  readonly storeLimits?: StoreLimits;
  /** Keeps the samples; null: they stay in memory. */
  readonly storage?: BlockStorage | null;
  /** Advice beside the message of a page that is not scraped again; null: none. */
  readonly hint?: (message: string, target: Target) => string | null;
}

/**
 * Scrapes one target at its interval: one scrape in flight at a time, ticks on a fixed grid that a slow response does
 * not shift. An unreachable target is retried, so that it can join late or return.
 */
export class TargetLoop {
  readonly target: Target;
  readonly store: TargetStore;
  /** The system as named, or as recognized from the page. */
  system: string | null;
  state: TargetState = 'waiting';
  /** Ticks without a scrape, because one was still in flight or the interval had been lengthened. */
  skipped = 0;
  readonly #options: LoopOptions;
  readonly #reader: PageReader;
  readonly #said = new Set<string>();
  #interval_ns: number;
  #zero_ns = 0;
  #timer: NodeJS.Timeout | null = null;
  #inFlight: Promise<void> | null = null;
  #stopped = false;
  #stopped_ns = 0;
  #busy_ns = 0;

  constructor(target: Target, client: PageClient, options: LoopOptions) {
    this.target = target;
    this.system = target.system;
    this.store = new TargetStore(options.storeLimits, options.storage);
    this.#options = options;
    this.#interval_ns = options.interval_ns;
    this.#reader = new PageReader(target, client);
  }

  /** Time spent in parsing and storing. */
  get busy_ns(): number {
    return this.#busy_ns + this.#reader.busy_ns;
  }

  /** The address that is read, without user info and query, for display. */
  get readUrl(): string {
    return publicUrl(this.#reader.url);
  }

  /** True: reading takes the data away from other readers. */
  get drains(): boolean {
    return this.#reader.drains;
  }

  get interval_ns(): number {
    return this.#interval_ns;
  }

  get #over(): boolean {
    return this.#stopped || this.state === 'not_metrics' || this.state === 'several_servers';
  }

  /** Starts the grid of ticks after a delay. */
  start(delay_ns = 0): void {
    this.#zero_ns = this.#options.now_ns() + delay_ns;
    this.#arm(this.#zero_ns);
  }

  /** A scrape at the edge of the run: starts after this call, once a scrape in flight has ended. */
  async scrapeEdge(): Promise<void> {
    while (this.#inFlight !== null) await this.#inFlight;
    await this.#scrape(true);
  }

  /**
   * Stops scraping; resolves when the scrape in flight has ended, which the caller must ensure. That scrape is recorded
   * as failed when it was late or would have been the first.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopped_ns = this.#options.now_ns();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#inFlight;
  }

  #arm(due_ns: number): void {
    if (this.#over) return;
    this.#timer = setTimeout(() => this.#tick(due_ns), Math.max(0, (due_ns - this.#options.now_ns()) / 1e6));
  }

  #tick(due_ns: number): void {
    if (this.#over) return;
    if (this.#inFlight === null) {
      void this.#scrape(false).then(() => this.#arm(this.#nextTick(due_ns)));
    } else {
      this.skipped += 1;
      this.#arm(this.#nextTick(due_ns));
    }
  }

  /** The first tick of the grid that is in the future and at least one interval after this one. */
  #nextTick(due_ns: number): number {
    const { interval_ns: grid_ns, now_ns } = this.#options;
    const earliest = Math.max(due_ns + this.#interval_ns, now_ns());
    const ticks = Math.ceil((earliest - this.#zero_ns) / grid_ns - 1e-6);
    this.skipped += Math.max(0, Math.round((this.#zero_ns + ticks * grid_ns - due_ns) / grid_ns) - 1);
    return this.#zero_ns + ticks * grid_ns;
  }

  #scrape(edge: boolean): Promise<void> {
    if (this.#over) return Promise.resolve();
    const scrape = this.#reader.read().then((outcome) => {
      this.#inFlight = null;
      const unanswered = this.#stopped && outcome.kind === 'failed';
      if (!unanswered) this.#take(outcome, edge);
      else if (this.#isLate(outcome)) this.#take(this.#unanswered(outcome), edge);
    });
    this.#inFlight = scrape;
    return scrape;
  }

  /** Whether the scrape aborted by the end of the collection had been pending long enough to count as failed. */
  #isLate({ sent_ns }: FailedPage): boolean {
    const patience_ns = Math.max(this.#options.interval_ns, LATE_NS);
    return this.store.scrapes === 0 || this.#stopped_ns - sent_ns >= patience_ns;
  }

  #unanswered(outcome: FailedPage): FailedPage {
    const waited = `${Number(((this.#stopped_ns - outcome.sent_ns) / 1e9).toPrecision(2))} s`;
    const message = outcome.first_byte_ns === null ? `no answer for ${waited}` : `no complete page after ${waited}`;
    return { ...outcome, message };
  }

  #take(outcome: PageOutcome, edge: boolean): void {
    const start_ns = workNow_ns();
    const times = {
      sent_ns: outcome.sent_ns,
      at_ns: outcome.first_byte_ns ?? outcome.end_ns,
      duration_ns: outcome.end_ns - outcome.sent_ns,
      interval_ns: this.#interval_ns,
      edge,
    };
    if (outcome.kind === 'read') {
      const { exposition, repeated, unixSeconds, cut } = outcome;
      const kept = this.store.recordPage({ ...times, unixSeconds }, exposition, repeated, cut);
      this.#afterPage(kept, exposition);
    } else {
      this.store.recordFailure(times, outcome.message);
      this.#afterFailure(outcome);
    }
    this.#interval_ns = Math.min(
      MAX_INTERVAL_NS,
      Math.max(this.#options.interval_ns, times.duration_ns / MAX_SHARE_OF_INTERVAL),
    );
    this.#busy_ns += workNow_ns() - start_ns;
  }

  #afterPage(kept: boolean, exposition: Exposition): void {
    if (!kept) {
      this.state = 'several_servers';
      this.#say(
        `several servers answer at this address (${this.store.severalServers ?? ''}): pass the address of each with --server-metrics`,
      );
      return;
    }
    if (this.state === 'gone') this.#say('it responds again');
    this.state = 'up';
    this.system ??= systemOfExposition(exposition);
    if (this.#reader.url !== this.target.url)
      this.#say('/metrics is JSON; reading the Prometheus page at /prometheus/metrics instead');
    if (this.drains) this.#say('iteration statistics as JSON; reading takes them away from other readers');
  }

  #afterFailure(outcome: Exclude<PageOutcome, { kind: 'read' }>): void {
    if (outcome.kind === 'not_metrics') {
      this.state = 'not_metrics';
      const hint = (this.#options.hint ?? pageHint)(outcome.message, this.target);
      this.#say(`no metrics: ${outcome.message}; it is not scraped again${hint === null ? '' : `; ${hint}`}`);
      return;
    }
    if (this.state === 'up') this.state = 'gone';
    if (!this.#stopped) this.#say(`${outcome.message}; the scrape is retried`);
    else if (this.#said.size === 0) this.#say(outcome.message);
  }

  #say(what: string): void {
    if (this.#said.has(what)) return;
    this.#said.add(what);
    this.#options.report(`metrics of ${this.target.name}: ${what}`);
  }
}
