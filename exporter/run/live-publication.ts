import { EventEmitter } from 'node:events';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { RunPlan } from '../store/run-writer.ts';
import { listen, type Listening } from '../http/listen.ts';
import { createRunApp } from '../http/run-app.ts';
import { Linger } from '../publish/linger.ts';
import type { LiveMetrics } from '../publish/live-metrics.ts';

export interface LivePublicationOptions {
  readonly plan: Pick<RunPlan, 'run_id' | 'scenario'>;
  readonly version: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** null: decided by `Linger` with its default limit; 0: no waiting. */
  readonly lingerMaxSeconds: number | null;
  readonly say: (line: string) => void;
}

/** The live metrics of a run on a port of its own, for as long as somebody still wants them. */
export class LivePublication {
  readonly metricsUrl: string;
  readonly #listening: Listening;
  readonly #linger: Linger;
  readonly #options: LivePublicationOptions;
  readonly #scrapes: EventEmitter;

  private constructor(listening: Listening, linger: Linger, scrapes: EventEmitter, options: LivePublicationOptions) {
    this.#listening = listening;
    this.metricsUrl = advertisedUrl(listening, options.host);
    this.#linger = linger;
    this.#scrapes = scrapes;
    this.#options = options;
  }

  /** Throws a `ListenError` when the port cannot be had. */
  static async open(live: LiveMetrics, options: LivePublicationOptions): Promise<LivePublication> {
    const linger = new Linger(options.lingerMaxSeconds ?? undefined);
    const scrapes = new EventEmitter();
    const { run_id: runId, scenario } = options.plan;
    const app = createRunApp({
      live,
      runId,
      scenario,
      version: options.version,
      problem: options.say,
      scraped: (remoteAddress) => {
        linger.scraped(remoteAddress, now_seconds());
        scrapes.emit('scrape');
      },
    });
    const listening = await listen(app, { host: options.host, port: options.port });
    return new LivePublication(listening, linger, scrapes, options);
  }

  /**
   * Waits until the final values were fetched by all who want them, or the run is given up. `discovered`: somebody asks
   * for the running runs, and may not have come to this one yet.
   */
  async untilFetched(discovered: boolean, givenUp: AbortSignal): Promise<void> {
    this.#linger.finished(now_seconds(), discovered);
    for (;;) {
      if (givenUp.aborted || this.#options.lingerMaxSeconds === 0) return;
      const decision = this.#linger.decide(now_seconds());
      if (decision.done) {
        if (decision.line !== null) this.#options.say(decision.line);
        return;
      }
      await this.#nextEvent(decision.recheck_seconds, givenUp);
    }
  }

  async close(): Promise<void> {
    await this.#listening.close();
  }

  /** A scrape, the moment to look again, or the end of patience. */
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

const now_seconds = (): number => performance.now() / 1000;

/** A scraper elsewhere cannot use "all addresses": it is told this machine's name. */
function advertisedUrl({ url, port }: Listening, host: string): string {
  return host === '0.0.0.0' || host === '::' ? `http://${hostname()}:${port}/metrics` : `${url}/metrics`;
}
