import { spawn, type ChildProcess } from 'node:child_process';
import type { ResultFile } from '../../../core/run/result.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import { LivePage } from '../../http/live-page.ts';
import type { LiveSource, RunFamily, ServedPage } from '../../publish/served-page.ts';
import { Departures } from '../../run/run-group.ts';
import { CliError, ExitCode } from '../failure.ts';
import { requestedWebConfig } from '../options/tls-options.ts';
import { departureTexts, writeMessage } from '../terminal-text.ts';
import {
  SERIALIZATION,
  SERIES_VARIABLE,
  type HandedRun,
  type MessageOfRun,
  type MessageOfSeries,
} from './page-messages.ts';

/** What the series does for a run in a child process. */
interface HandedPageHost {
  /** The page of the series. Rejects if the web configuration file is not valid. */
  readonly page: (webConfigFile: string | null) => Promise<LivePage>;
  /** Shows a line to the user. */
  readonly say: (line: string) => void;
  /** The run is published and leaves the page when its scrapers have come. */
  readonly departing: (run: ServedPage, hurried: boolean) => void;
}

/** Serves the live metrics of one child process on the page of its series. */
class HandedPage {
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

/** A result is far smaller. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** The parent judges, also where the environment or a scenario file says --check. */
const AS_PART_OF_A_SERIES = ['--check=false', '--json'];

export interface RunInChild {
  /** Of `llmbench run`. */
  readonly exitCode: number;
  /** Null when the run ended without one. */
  readonly result: ResultFile | null;
}

/**
 * Performs `llmbench run` with these options in a process of its own, so that each run of a series starts with a fresh client.
 * Progress and messages go to stderr. Signals reach the child through the terminal; SIGTERM and SIGHUP are passed on. `started`
 * is called with the child, which hands its live metrics to this process.
 */
async function runInChild(options: readonly string[], started: (child: ChildProcess) => void): Promise<RunInChild> {
  const [launcher = ''] = process.argv.slice(1);
  const child = spawn(process.execPath, [launcher, 'run', ...options, ...AS_PART_OF_A_SERIES], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    serialization: SERIALIZATION,
    env: { ...process.env, [SERIES_VARIABLE]: String(process.pid) },
  });
  started(child);
  // A terminal that closes sends SIGHUP to the child as well, which takes two as one.
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  const stay = (): void => undefined;
  process.on('SIGTERM', passOn);
  process.on('SIGHUP', passOn);
  // The terminal sends Ctrl-C to the child as well; this process waits for its result.
  process.on('SIGINT', stay);
  try {
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      output += piece;
      if (output.length > MAX_OUTPUT_BYTES) child.kill('SIGTERM');
    });
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once('error', (error) =>
        reject(new CliError(`llmbench run cannot be started: ${error.message}`, ExitCode.failed)),
      );
      child.once('close', (code) => resolve(code ?? ExitCode.failed));
    });
    return { exitCode, result: output.trim() === '' ? null : (JSON.parse(output) as ResultFile) };
  } finally {
    process.off('SIGTERM', passOn);
    process.off('SIGHUP', passOn);
    process.off('SIGINT', stay);
  }
}

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
