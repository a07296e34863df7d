import type { ChildProcess } from 'node:child_process';
import type { LivePage } from '../../http/live-page.ts';
import type { LiveSource, RunFamily, ServedPage } from '../../publish/served-page.ts';
import { reasonOf } from '../../errors/store-errors.ts';
import type { HandedRun, MessageOfRun, MessageOfSeries } from './page-messages.ts';

/** What the series does for a run in a child process. */
export interface HandedPageHost {
  /** The page of the series. Rejects if the web configuration file is not valid. */
  readonly page: (webConfigFile: string | null) => Promise<LivePage>;
  /** Shows a line to the user. */
  readonly say: (line: string) => void;
  /** The run is published and leaves the page when its scrapers have come. */
  readonly departing: (run: ServedPage, hurried: boolean) => void;
}

/** Serves the live metrics of one child process on the page of its series. */
export class HandedPage {
  readonly #child: ChildProcess;
  readonly #host: HandedPageHost;
  readonly #source: LiveSource;
  readonly #requests = new Map<number, (families: readonly RunFamily[]) => void>();
  #asked = 0;
  #final: readonly RunFamily[] | null = null;
  #run: ServedPage | null = null;
  #isDeparting = false;

  constructor(child: ChildProcess, host: HandedPageHost) {
    this.#child = child;
    this.#host = host;
    this.#source = { lines: () => this.#lines() };
    child.on('message', (message: MessageOfRun) => {
      this.#received(message).catch((error: unknown) => host.say(`live metrics: ${reasonOf(error)}`));
    });
    child.once('disconnect', () => void this.#left());
  }

  async #received(message: MessageOfRun): Promise<void> {
    switch (message.kind) {
      case 'serve':
        return this.#send(await this.#served(message.run, message.webConfigFile));
      case 'await_scrapes': {
        const { times, limit_seconds } = message;
        const scraped = (await this.#run?.scraped(times, limit_seconds, NOT_GIVEN_UP.givenUp)) ?? false;
        return this.#send({ kind: 'scraped', scraped });
      }
      case 'begin':
        this.#run?.begin?.();
        return;
      case 'families':
        this.#requests.get(message.request)?.(message.families);
        this.#requests.delete(message.request);
        return;
      case 'ended':
        this.#final = message.families;
        this.#run?.end?.(false);
        return;
      case 'finish':
        return this.#send({ kind: 'finished', lines: (await this.#run?.finish?.(NOT_GIVEN_UP)) ?? [] });
      case 'depart':
        if (this.#run === null || this.#isDeparting) return;
        this.#isDeparting = true;
        this.#host.departing(this.#run, message.hurried);
    }
  }

  async #served(run: HandedRun, webConfigFile: string | null): Promise<MessageOfSeries> {
    try {
      const page = await this.#host.page(webConfigFile);
      this.#run = await page.serve(this.#source, { ...run, say: this.#host.say });
      return { kind: 'served', metricsUrl: this.#run.metricsUrl };
    } catch (error) {
      return { kind: 'refused', reason: reasonOf(error) };
    }
  }

  /** Without its process, a run has the final values that it has handed over, or none. */
  #lines(): Promise<readonly RunFamily[]> {
    if (this.#final !== null) return Promise.resolve(this.#final);
    if (!this.#child.connected) return Promise.resolve([]);
    const request = this.#asked++;
    return new Promise((resolve) => {
      this.#requests.set(request, resolve);
      this.#send({ kind: 'families', request });
    });
  }

  #send(message: MessageOfSeries): void {
    // The child may have ended.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  async #left(): Promise<void> {
    for (const resolve of this.#requests.values()) resolve([]);
    this.#requests.clear();
    if (!this.#isDeparting) await this.#run?.close?.();
  }
}

const NOT_GIVEN_UP = { hurried: false, givenUp: new AbortController().signal };
