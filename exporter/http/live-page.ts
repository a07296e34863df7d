import { EventEmitter } from 'node:events';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { RequestHandler } from 'express';
import type { RunEnding } from '../../core/run/run-output.ts';
import { reasonOf } from '../errors/expected-error.ts';
import { DEFAULT_LINGER_MAX_SECONDS, Linger, scrapeAdvice, Scrapers } from '../publish/linger.ts';
import {
  LiveRunsPage,
  type LiveSource,
  type PageEntry,
  type ServedPage,
  type ServedPageOptions,
} from '../publish/served-page.ts';
import { isDiscovered } from '../store/recovery/serve-presence.ts';
import { recordServed } from '../store/recovery/served-runs.ts';
import { hostCheck } from './allowed-host.ts';
import type { Listening, ListenTls } from './listen.ts';
import type { WebConfigFile } from './web-config/web-config.ts';

/**
 * Serves the live metrics of the runs of one command on one port: of the run that is measured, and of those before it
 * until their scrapers have the final values, so that a run does not wait for the scrapers of the one before.
 */
export class LivePage {
  readonly #page = new LiveRunsPage();
  readonly #scrapers = new Scrapers();
  readonly #runs = new Set<RunPage>();
  readonly #waiting = new Set<RunPage>();
  #opening: Promise<Listening> | null = null;
  readonly #webConfig: WebConfigFile | null;
  /** The last run that has left while others follow: without it, the page would leave the discovery between two runs. */
  #staying: RunPage | null = null;
  #isAnnouncing = false;
  #isSaid = false;
  #isAdvised = false;
  #hasWaited = false;

  /** `webConfig`: TLS, users and rate limit of the port; null: none. */
  constructor(webConfig: WebConfigFile | null = null) {
    this.#webConfig = webConfig;
  }

  /** Adds a run; the first one opens the port. Throws a `ListenError` if it is not available. */
  async serve(live: LiveSource, options: ServedPageOptions): Promise<ServedPage> {
    this.#opening ??= this.#open(options);
    const listening = await this.#opening.catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    const run: RunPage = new RunPage({
      metricsUrl: advertisedUrl(listening, options.host),
      linger: new Linger(this.#scrapers, now_seconds(), options.lingerMaxSeconds ?? undefined),
      entry: this.#page.add(live),
      options,
      begun: () => this.#endStay(),
      waiting: () => this.#noteWaiting(run),
      served: () => this.#served(run),
      gone: () => this.#gone(run),
      patience: (limit_seconds) => this.#patience(limit_seconds),
      advice: (run_seconds) => this.#advice(run_seconds),
    });
    this.#runs.add(run);
    return run;
  }

  /** Nothing is measured: says once that the command waits, as soon as a run does wait for its scrapers. */
  waiting(): void {
    this.#isAnnouncing = true;
    this.#isSaid = false;
    this.#sayWaiting();
    this.#endStay();
  }

  /** Ends the page, also while it is scraped. */
  async close(): Promise<void> {
    await this.#staying?.close();
    const opening = this.#opening;
    this.#opening = null;
    // `serve` has reported why the port did not open.
    const listening = await opening?.catch(() => null);
    await listening?.close();
  }

  async #open(options: ServedPageOptions): Promise<Listening> {
    // Loaded only where a port is opened: a run without it starts sooner.
    const [{ createRunApp }, { listen }] = await Promise.all([import('./run-app.ts'), import('./listen.ts')]);
    const web = this.#webConfig === null ? null : await protectedBy(this.#webConfig);
    const app = createRunApp({
      ...(web !== null && { guard: web.guard }),
      live: this.#page,
      runs: () => [...this.#runs].map(({ options: { runId, scenario } }) => ({ runId, scenario })),
      version: options.version,
      hostCheck: hostCheck(options),
      problem: options.say,
      scraped: (remoteAddress) => {
        this.#scrapers.scraped(remoteAddress, now_seconds());
        for (const run of [...this.#runs]) run.fetched(remoteAddress);
      },
    });
    return listen(app, { host: options.host, port: options.port }, undefined, web?.tls ?? null);
  }

  /** A run whose scrapers have the final values leaves the page; the last one only when another has begun or none follows. */
  async #served(run: RunPage): Promise<void> {
    this.#waiting.delete(run);
    if (this.#isAnnouncing || this.#runs.size > 1) await run.close();
    else this.#staying = run;
  }

  #endStay(): void {
    void this.#staying?.close();
  }

  /** The port closes with the last run: a page without it would be scraped as its end. */
  #gone(run: RunPage): void {
    this.#runs.delete(run);
    this.#waiting.delete(run);
    if (this.#staying === run) this.#staying = null;
    if (this.#isAnnouncing && this.#runs.size === 0) void this.close();
  }

  #noteWaiting(run: RunPage): void {
    this.#waiting.add(run);
    this.#sayWaiting();
  }

  /** Of the first run the whole limit, of others only if something scraped the page meanwhile. */
  #patience(limit_seconds: number): number {
    const isFirst = !this.#hasWaited;
    this.#hasWaited = true;
    return isFirst || this.#scrapers.present(now_seconds()).length > 0 ? limit_seconds : 0;
  }

  /** Given once: the interval is the same for all runs of the command. */
  #advice(run_seconds: number): readonly string[] {
    const slowest = this.#isAdvised ? null : this.#scrapers.slowest();
    const line = slowest && scrapeAdvice(slowest.address, slowest.interval_seconds, run_seconds);
    if (line === null) return [];
    this.#isAdvised = true;
    return [line];
  }

  #sayWaiting(): void {
    const [first] = this.#waiting;
    if (!this.#isAnnouncing || this.#isSaid || first === undefined) return;
    this.#isSaid = true;
    first.options.say(waitingLine(this.#waiting.size, first.options.lingerMaxSeconds));
  }
}

interface RunPageParts {
  readonly metricsUrl: string;
  readonly linger: Linger;
  readonly entry: PageEntry;
  readonly options: ServedPageOptions;
  /** Called before the first request. */
  readonly begun: () => void;
  /** Called when the run has ended and a scraper lacks its final values. */
  readonly waiting: () => void;
  /** Called when the scrapers have the final values, or do not come. */
  readonly served: () => Promise<void>;
  readonly gone: () => void;
  /** How long the first scrape of a run is waited for, of at most so many seconds. */
  readonly patience: (limit_seconds: number) => number;
  /** Lines for the user when scrapes were too rare for a run that took so long. */
  readonly advice: (run_seconds: number) => readonly string[];
}

class RunPage implements ServedPage {
  readonly metricsUrl: string;
  readonly options: ServedPageOptions;
  readonly #parts: RunPageParts;
  readonly #scrapes = new EventEmitter();
  /** By address of the scraper. */
  readonly #fetches = new Map<string, number>();
  #record: { stop(): Promise<void> } | null = null;
  #begun_seconds: number | null = null;
  #measured_seconds: number | null = null;

  constructor(parts: RunPageParts) {
    this.metricsUrl = parts.metricsUrl;
    this.options = parts.options;
    this.#parts = parts;
  }

  fetched(remoteAddress: string): void {
    this.#fetches.set(remoteAddress, (this.#fetches.get(remoteAddress) ?? 0) + 1);
    this.#parts.linger.fetched(remoteAddress);
    this.#scrapes.emit('scrape');
  }

  async scraped(times: number, limit_seconds: number, givenUp: AbortSignal): Promise<boolean> {
    const until_seconds = now_seconds() + this.#parts.patience(limit_seconds);
    const isScraped = (): boolean => [...this.#fetches.values()].some((fetches) => fetches >= times);
    while (!isScraped() && !givenUp.aborted && now_seconds() < until_seconds) {
      await this.#nextEvent(until_seconds, givenUp);
    }
    return isScraped();
  }

  begin(): void {
    this.#begun_seconds = now_seconds();
    this.#parts.begun();
  }

  end(): void {
    this.#parts.entry.seal();
    if (this.#begun_seconds !== null) this.#measured_seconds = now_seconds() - this.#begun_seconds;
    this.#parts.linger.finished(now_seconds());
  }

  /** From now on the run is discovered, and has no other publisher, whether or not it is published. */
  async finish(): Promise<readonly string[]> {
    const { runId, runsDirectory, lingerMaxSeconds } = this.options;
    if (lingerMaxSeconds === 0) return [];
    try {
      this.#record = await recordServed(runsDirectory, runId);
      return [];
    } catch (error) {
      return [`Prometheus may lack the end of the run, which is not discovered any more: ${reasonOf(error)}`];
    }
  }

  /** Waits until every scraper has fetched the final values, or the command is cancelled, and leaves the page. */
  async depart(ending: RunEnding): Promise<readonly string[]> {
    try {
      const lines = await this.#scrapersServed(ending);
      return this.#measured_seconds === null ? lines : [...lines, ...this.#parts.advice(this.#measured_seconds)];
    } finally {
      await this.#parts.served();
    }
  }

  async #scrapersServed({ hurried, givenUp }: RunEnding): Promise<readonly string[]> {
    const { linger, options, waiting } = this.#parts;
    // A client of the service discovery may not have scraped this run yet; a cancelled run does not wait for it.
    const awaited = !hurried && (await isDiscovered(options.runsDirectory));
    linger.finished(now_seconds(), awaited);
    for (;;) {
      if (givenUp.aborted || options.lingerMaxSeconds === 0) return [];
      const decision = linger.decide(now_seconds());
      if (decision.done) return decision.line === null ? [] : [decision.line];
      waiting();
      await this.#nextEvent(decision.recheck_seconds, givenUp);
    }
  }

  async close(): Promise<void> {
    this.#parts.entry.remove();
    this.#parts.gone();
    await this.#record?.stop();
    this.#record = null;
  }

  /** Resolves at the next scrape, at the recheck time, or when the command is cancelled. */
  #nextEvent(recheck_seconds: number, givenUp: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        givenUp.removeEventListener('abort', wake);
        this.#scrapes.off('scrape', wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(10, (recheck_seconds - now_seconds()) * 1000));
      givenUp.addEventListener('abort', wake);
      this.#scrapes.on('scrape', wake);
    });
  }
}

function waitingLine(runs: number, lingerMaxSeconds: number | null): string {
  const ofRuns = runs > 1 ? ` of ${runs} runs` : '';
  return `waiting until scrapers have fetched the final values${ofRuns}, at most ${lingerMaxSeconds ?? DEFAULT_LINGER_MAX_SECONDS} s; --linger no ends without waiting`;
}

const now_seconds = (): number => performance.now() / 1000;

/** A scraper on another machine cannot use the wildcard address: it gets this machine's name. */
function advertisedUrl({ url, port }: Listening, host: string): string {
  const { protocol } = new URL(url);
  return host === '0.0.0.0' || host === '::' ? `${protocol}//${hostname()}:${port}/metrics` : `${url}/metrics`;
}

/** Loaded only where it is needed: a run without it starts sooner. */
async function protectedBy(file: WebConfigFile): Promise<{ guard: RequestHandler; tls: ListenTls | null }> {
  const { webGuard } = await import('./web-config/web-guard.ts');
  const { webTls } = await import('./web-config/web-config.ts');
  return {
    guard: webGuard(
      () => file.current(),
      () => false,
    ),
    tls: webTls(file),
  };
}
