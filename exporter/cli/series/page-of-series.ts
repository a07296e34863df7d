import { ListenError } from '../../http/listen.ts';
import type { LiveSource, ServedPage, ServedPageOptions } from '../../publish/served-page.ts';
import { SERIES_VARIABLE, type MessageOfRun, type MessageOfSeries } from './page-messages.ts';

/** Whether this process is one run of a series, whose parent serves the live metrics of all of them. */
export const isRunOfSeries = (): boolean =>
  process.send !== undefined && process.env[SERIES_VARIABLE] === String(process.ppid);

/**
 * The page of the parent process, for the one run of this process: the run hands its values over as it is scraped and when it
 * ends, and the parent waits for the scrapers.
 */
export class PageOfSeries {
  readonly #webConfigFile: string | null;
  #response: ((message: MessageOfSeries) => void) | null = null;

  /** `webConfigFile`: TLS, users and rate limit of the port; null: none. */
  constructor(webConfigFile: string | null) {
    this.#webConfigFile = webConfigFile;
  }

  /** Throws a `ListenError` if the port is not available. */
  async serve(live: LiveSource, { say: _say, ...run }: ServedPageOptions): Promise<ServedPage> {
    process.on('message', (message: MessageOfSeries) => this.#received(message, live));
    const handed = { kind: 'serve', run, webConfigFile: this.#webConfigFile } as const;
    const response = await this.#asked(handed, ['served', 'refused']);
    if (response?.kind !== 'served')
      throw new ListenError(response?.kind === 'refused' ? response.reason : PARENT_GONE);
    let ended: Promise<void> = Promise.resolve();
    return {
      metricsUrl: response.metricsUrl,
      scraped: async (times, limit_seconds, givenUp) => {
        const response = this.#asked({ kind: 'await_scrapes', times, limit_seconds }, ['scraped']);
        const first = await Promise.race([response, aborted(givenUp)]);
        return first?.kind === 'scraped' && first.scraped;
      },
      begin: () => void sent({ kind: 'begin' }),
      end: () => {
        ended = live.lines().then((families) => sent({ kind: 'ended', families }));
        // `finish` waits for it.
        ended.catch(() => undefined);
      },
      finish: async () => {
        await ended;
        const finished = await this.#asked({ kind: 'finish' }, ['finished']);
        return finished?.kind === 'finished' ? finished.lines : [];
      },
      depart: async ({ hurried }) => {
        await sent({ kind: 'depart', hurried });
        return [];
      },
    };
  }

  /** The parent says that it waits. */
  waiting(): void {}

  /** Ends the connection to the parent, so that this process can end. */
  close(): Promise<void> {
    if (process.connected) process.disconnect();
    return Promise.resolve();
  }

  #received(message: MessageOfSeries, live: LiveSource): void {
    if (message.kind !== 'families') {
      this.#response?.(message);
      return;
    }
    const { request } = message;
    live.lines().then(
      (families) => sent({ kind: 'families', request, families }),
      // The page is then without this run for one scrape.
      () => sent({ kind: 'families', request, families: [] }),
    );
  }

  /** The response of one of these kinds: one that came too late is not that of a later message. Null: the parent has ended. */
  async #asked(message: MessageOfRun, kinds: readonly MessageOfSeries['kind'][]): Promise<MessageOfSeries | null> {
    const response = new Promise<MessageOfSeries | null>((resolve) => {
      this.#response = (message) => {
        if (kinds.includes(message.kind)) resolve(message);
      };
      process.once('disconnect', () => resolve(null));
    });
    await sent(message);
    return response;
  }
}

/** Resolves when it is aborted. */
function aborted(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}

const PARENT_GONE = 'the process that serves the live metrics has ended';

/** Resolves when the message is written; also without a parent, whose end must not end a run. */
function sent(message: MessageOfRun): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, () => resolve());
  });
}
