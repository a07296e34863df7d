import { EventEmitter } from 'node:events';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { RunEnding } from '../../core/run/run-output.ts';
import { DEFAULT_LINGER_MAX_SECONDS, Linger } from '../publish/linger.ts';
import type { MetricsPage } from '../publish/metrics-page.ts';
import type { ServedPage, ServedPageOptions } from '../publish/served-page.ts';
import { isDiscovered } from '../store/recovery/serve-presence.ts';
import { hostCheck } from './allowed-host.ts';
import { listen, type Listening } from './listen.ts';
import { createRunApp } from './run-app.ts';

/** Serves the live metrics of a run on its own port until the scrapers have the final values. */
export class LivePage implements ServedPage {
  readonly metricsUrl: string;
  readonly #listening: Listening;
  readonly #linger: Linger;
  readonly #options: ServedPageOptions;
  readonly #scrapes: EventEmitter;

  private constructor(listening: Listening, linger: Linger, scrapes: EventEmitter, options: ServedPageOptions) {
    this.#listening = listening;
    this.metricsUrl = advertisedUrl(listening, options.host);
    this.#linger = linger;
    this.#scrapes = scrapes;
    this.#options = options;
  }

  /** Throws a `ListenError` if the port is not available. */
  static async open(this: void, live: MetricsPage, options: ServedPageOptions): Promise<LivePage> {
    const linger = new Linger(options.lingerMaxSeconds ?? undefined);
    const scrapes = new EventEmitter();
    const { runId, scenario } = options;
    const app = createRunApp({
      live,
      runId,
      scenario,
      version: options.version,
      hostCheck: hostCheck(options),
      problem: options.say,
      scraped: (remoteAddress) => {
        linger.scraped(remoteAddress, now_seconds());
        scrapes.emit('scrape');
      },
    });
    const listening = await listen(app, { host: options.host, port: options.port });
    return new LivePage(listening, linger, scrapes, options);
  }

  /** Waits until every scraper has fetched the final values, or the run is cancelled. */
  async finish({ hurried, givenUp }: RunEnding): Promise<readonly string[]> {
    // A client of the service discovery may not have scraped this run yet; a cancelled run does not wait for it.
    const awaited = !hurried && (await isDiscovered(this.#options.runsDirectory));
    this.#linger.finished(now_seconds(), awaited);
    let isSaid = false;
    for (;;) {
      if (givenUp.aborted || this.#options.lingerMaxSeconds === 0) return [];
      const decision = this.#linger.decide(now_seconds());
      if (decision.done) {
        if (decision.line !== null) this.#options.say(decision.line);
        return [];
      }
      if (!isSaid) this.#options.say(waitingLine(this.#options.lingerMaxSeconds));
      isSaid = true;
      await this.#nextEvent(decision.recheck_seconds, givenUp);
    }
  }

  async close(): Promise<void> {
    await this.#listening.close();
  }

  /** Resolves at the next scrape, at the recheck time, or when the run is cancelled. */
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

const waitingLine = (lingerMaxSeconds: number | null): string =>
  `waiting until scrapers have fetched the final values, at most ${lingerMaxSeconds ?? DEFAULT_LINGER_MAX_SECONDS} s; --linger no ends the run at once`;

const now_seconds = (): number => performance.now() / 1000;

/** A scraper on another machine cannot use the wildcard address: it gets this machine's name. */
function advertisedUrl({ url, port }: Listening, host: string): string {
  return host === '0.0.0.0' || host === '::' ? `http://${hostname()}:${port}/metrics` : `${url}/metrics`;
}
