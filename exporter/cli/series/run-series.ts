import type { ChildProcess } from 'node:child_process';
import { LivePage } from '../../http/live-page.ts';
import type { ServedPage } from '../../publish/served-page.ts';
import { Departures } from '../../run/run-group.ts';
import { departureTexts } from '../departure-texts.ts';
import { writeMessage } from '../message.ts';
import { requestedWebConfig } from '../options/web-config-option.ts';
import { HandedPage } from './handed-page.ts';
import { runInChild, type RunInChild } from './run-in-child.ts';

/**
 * Runs one after the other, each in a process of its own, whose live metrics are on one page of this process: while a run is
 * measured, those before it wait for their scrapers, and all of them are waited for once, at the end.
 */
export class RunSeries {
  readonly #departures = new Departures();
  readonly #givenUp = new AbortController();
  #page: Promise<LivePage> | null = null;
  #runs = 0;

  /** Performs `llmbench run` with these options. Throws a `CliError` if it cannot be started. */
  async run(options: readonly string[]): Promise<RunInChild> {
    if (this.#departures.isFull) (await this.#openPage())?.waiting();
    await this.#departures.room();
    this.#runs += 1;
    return runInChild(options, (child) => this.#serve(child));
  }

  /** Waits until the scrapers have the last values of all runs; Ctrl-C ends the wait. */
  async end(): Promise<void> {
    const giveUp = (): void => this.#givenUp.abort();
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, giveUp);
    try {
      const page = await this.#openPage();
      page?.waiting();
      for (const text of departureTexts(await this.#departures.all(), this.#runs)) say(text);
      await page?.close();
    } finally {
      for (const signal of signals) process.off(signal, giveUp);
    }
  }

  /** Null: no run is served, or its web configuration file is not valid, which the run has reported. */
  async #openPage(): Promise<LivePage | null> {
    return (await this.#page?.catch(() => null)) ?? null;
  }

  #serve(child: ChildProcess): void {
    new HandedPage(child, {
      page: (webConfigFile) => (this.#page ??= openPage(webConfigFile)),
      say,
      departing: (run, hurried) => this.#departing(run, hurried),
    });
  }

  #departing(run: ServedPage, hurried: boolean): void {
    const departure = run.depart?.({ hurried, givenUp: this.#givenUp.signal });
    if (departure !== undefined) this.#departures.add(departure);
  }
}

const say = (line: string): void => writeMessage(process.stderr, line);

async function openPage(webConfigFile: string | null): Promise<LivePage> {
  return new LivePage(await requestedWebConfig('metrics-web-config-file', webConfigFile, say));
}
