import { PageReader } from './page-reader.ts';
import type { PageOutcome } from './page-reader.ts';
import type { PageClient } from './page-request.ts';
import { systemOf } from './recognise.ts';
import type { Target } from './targets.ts';
import { TargetStore, type StoreLimits } from './target-store.ts';
import { workNow_ns } from './work-clock.ts';

/** waiting: not reached yet; gone: was reached before; the last two are not asked again. */
export type TargetState = 'waiting' | 'up' | 'gone' | 'not_metrics' | 'several_servers';

/** Scraping may take this share of the time: a scrape that lasts longer makes the next ones rarer. */
const MAX_SHARE_OF_INTERVAL = 1 / 5;
const LONGEST_INTERVAL_NS = 300e9;

export interface LoopOptions {
  readonly interval_ns: number;
  readonly now_ns: () => number;
  /** One line for a person; each matter of a target is said once. */
  readonly report: (line: string) => void;
  readonly storeLimits?: StoreLimits;
}

/**
 * Scrapes one target at its interval: one scrape in flight at a time, ticks on a fixed grid that a slow answer does not
 * move. A target that cannot be reached is tried again, so that it joins late or comes back.
 */
export class TargetLoop {
  readonly target: Target;
  readonly store: TargetStore;
  /** The system as named, or as recognised from the page. */
  system: string | null;
  state: TargetState = 'waiting';
  /** Ticks without a scrape of their own, because one was still in flight or scrapes had become rarer. */
  skipped = 0;
  readonly #options: LoopOptions;
  readonly #reader: PageReader;
  readonly #said = new Set<string>();
  #interval_ns: number;
  #zero_ns = 0;
  #timer: NodeJS.Timeout | null = null;
  #inFlight: Promise<void> | null = null;
  #stopped = false;
  #busy_ns = 0;

  constructor(target: Target, client: PageClient, options: LoopOptions) {
    this.target = target;
    this.system = target.system;
    this.store = new TargetStore(options.storeLimits);
    this.#options = options;
    this.#interval_ns = options.interval_ns;
    this.#reader = new PageReader(target, client);
  }

  /** Time spent in parsing and storing. */
  get busy_ns(): number {
    return this.#busy_ns + this.#reader.busy_ns;
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

  start(): void {
    this.#zero_ns = this.#options.now_ns();
    this.#arm(this.#zero_ns);
  }

  /** A scrape at the edge of the run: begun after this call, once one in flight has ended. */
  async scrapeEdge(): Promise<void> {
    while (this.#inFlight !== null) await this.#inFlight;
    await this.#scrape(true);
  }

  /** No further scrapes; resolves when the one in flight has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
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

  /** The first tick of the grid that lies in the future and at least the interval after this one. */
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
      if (outcome.kind === 'failed' && this.#stopped) return;
      this.#take(outcome, edge);
    });
    this.#inFlight = scrape;
    return scrape;
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
      const kept = this.store.recordPage(times, outcome.exposition, outcome.repeated);
      this.#afterPage(kept, outcome.bytes);
    } else {
      this.store.recordFailure(times, outcome.message);
      this.#afterFailure(outcome);
    }
    this.#interval_ns = Math.min(
      LONGEST_INTERVAL_NS,
      Math.max(this.#options.interval_ns, times.duration_ns / MAX_SHARE_OF_INTERVAL),
    );
    this.#busy_ns += workNow_ns() - start_ns;
  }

  #afterPage(kept: boolean, bytes: Uint8Array): void {
    if (!kept) {
      this.state = 'several_servers';
      this.#say(
        'several servers answer here (the start time of the process goes back): name each one with --server-metrics',
      );
      return;
    }
    if (this.state === 'gone') this.#say('it answers again');
    this.state = 'up';
    this.system ??= systemOf(new TextDecoder().decode(bytes));
    if (this.#reader.url !== this.target.url)
      this.#say('JSON; its Prometheus page is at /prometheus/metrics and is read instead');
    if (this.drains) this.#say('iteration statistics as JSON; reading takes them away from other readers');
  }

  #afterFailure(outcome: Exclude<PageOutcome, { kind: 'read' }>): void {
    if (outcome.kind === 'not_metrics') {
      this.state = 'not_metrics';
      this.#say(`no metrics: ${outcome.message}; it is not asked again`);
      return;
    }
    if (this.state === 'up') this.state = 'gone';
    this.#say(`${outcome.message}; it is tried again`);
  }

  #say(what: string): void {
    if (this.#said.has(what)) return;
    this.#said.add(what);
    this.#options.report(`metrics of ${this.target.name}: ${what}`);
  }
}
