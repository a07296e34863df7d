import { joinedEvents } from '../../core/run/run-output.ts';
import { monotonicNow_ns } from '../clock/monotonic-clock.ts';
import { hasCode, RunNotStoredError } from '../errors/expected-error.ts';
import { LivePage } from '../http/live-page.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import { shareOf } from '../load/workers/share.ts';
import type { RunHost } from '../run/run-context.ts';
import type { RunRequest } from '../run/run-request.ts';
import type { RunUploads } from '../run/run-uploads.ts';
import { CliError, ExitCode } from './failure.ts';
import { writeMessage, printing, saidOnce } from './terminal-text.ts';
import { hasGrafanaToken } from './options/publish-options.ts';
import type { RunOptions } from './options/run-options.ts';
import { requestedWebConfig } from './options/tls-options.ts';
import { LiveLines, Progress, type ProgressPlan } from './progress/progress.ts';
import { VerboseLines, verboseLine } from './progress/verbose-lines.ts';
import { requestedUploads } from './open-runs.ts';
import { isRunOfSeries, PageOfSeries } from './series/page-of-series.ts';
import { resultTable } from './tables/result-table.ts';

/** The page of the live metrics: this process' own, or that of the series which this run belongs to. */
type CommandPage = Pick<LivePage, 'serve' | 'waiting' | 'close'>;

const NOT_ANNOTATED =
  'the run is not annotated in Grafana, only linked to: annotations require --grafana-token-env or --grafana-token-file';

/** What the runs of one command share: the terminal, the page of their live metrics, uploads, and how a user ends them. */
export class Session {
  readonly controls = new RunControls();
  readonly #display = new LiveLines(process.stderr, [process.stdout]);
  readonly #options: RunOptions;
  #page: CommandPage | null = null;
  #uploads: RunUploads | null = null;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  /** Shows a line to the user. */
  readonly say = (line: string): void => this.#display.print(line);

  /** The same for what each of the runs would repeat. */
  readonly sayOnce = saidOnce(this.say);

  /** Opens the page and performs `work`, during which signals end the runs. Throws a `CliError` for what is expected to fail. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    const { 'metrics-web-config-file': path, 'grafana-url': grafana } = this.#options;
    if (grafana !== null && !hasGrafanaToken(this.#options)) writeMessage(process.stderr, NOT_ANNOTATED);
    const webConfig = await requestedWebConfig('metrics-web-config-file', path, this.say);
    this.#page = isRunOfSeries() ? new PageOfSeries(path) : new LivePage(webConfig);
    const release = stopOnSignals(this.controls, this.say);
    try {
      return await work();
    } catch (error) {
      throw this.#explained(error);
    } finally {
      await this.closePage();
      release();
    }
  }

  /** Null without `--upload`. Throws a `CliError` if nothing can be read there. */
  async openUploads(): Promise<RunUploads | null> {
    this.#uploads = await requestedUploads(this.#options, this.say);
    return this.#uploads;
  }

  /** The request of a run, with what is to be done when it is stored. */
  uploaded(request: RunRequest): RunRequest {
    return this.#uploads?.requested(request) ?? request;
  }

  /** False if a run could not be uploaded. */
  async upload(): Promise<boolean> {
    return (await this.#uploads?.finish(this.controls.draining)) ?? true;
  }

  /** Nothing is measured until scrapers have come. */
  waiting(): void {
    this.#page?.waiting();
  }

  async closePage(): Promise<void> {
    await this.#page?.close();
  }

  host(request: RunRequest): RunHost {
    const { verbose } = this.#options;
    const page = this.#page;
    if (page === null) throw new Error('the session is not in use');
    return {
      servePage: (live, pageOptions) => page.serve(live, pageOptions),
      say: this.sayOnce,
      ...(verbose ? { explain: (line) => this.say(verboseLine(line)) } : {}),
      observe: (epoch, servers) => {
        const now_ns = (): number => monotonicNow_ns() - epoch.monotonic_ns;
        const progress = new Progress(planOf(request), this.#display, now_ns, servers);
        if (!verbose) return progress;
        return { ...joinedEvents([progress, new VerboseLines(this.say)]), stop: () => progress.stop() };
      },
    };
  }

  /** What a failure means while runs are performed. */
  #explained(error: unknown): unknown {
    if (hasCode(error, 'storage')) return new CliError(error.message);
    if (hasCode(error, 'server') && this.controls.draining.aborted)
      return new CliError(error.message, ExitCode.interrupted);
    // With --json it is part of the combined output.
    if (error instanceof RunNotStoredError && !isQuiet(this.#options))
      process.stdout.write(resultTable(error.result, printing()));
    return error;
  }
}

/** Whether standard output has one document: the result as JSON, or the verdict. */
export const isQuiet = (options: RunOptions): boolean => options.json || hasOnlyVerdict(options);

/** With --check, unless as text. */
export const hasOnlyVerdict = ({ check, json, format }: RunOptions): boolean => check && (json || format !== 'text');

/** A run that could not be uploaded is not where it was wanted. */
export const withUpload = (exitCode: number, isUploaded: boolean): number =>
  exitCode === ExitCode.done && !isUploaded ? ExitCode.failed : exitCode;

function planOf(request: RunRequest): ProgressPlan {
  const { warmup, measure } = request;
  return {
    warmupRequests: partOf(warmup?.requestCount ?? null, request),
    warmupSeconds: warmup?.durationSeconds ?? null,
    requestCount: partOf(measure.requestCount, request),
    durationSeconds: measure.durationSeconds,
  };
}

/** Number of the plan's requests that this shard sends. */
function partOf(requests: number | null, { shard }: RunRequest): number | null {
  return requests === null || shard === null ? requests : shareOf(requests, shard.share);
}

/** First Ctrl-C: requests in flight finish and the run is written. Second: they are cancelled and it is written. */
function stopOnSignals(controls: RunControls, say: (line: string) => void): () => void {
  const interrupted = (): void => {
    if (controls.draining.aborted) {
      controls.abort();
      return;
    }
    say('stopping: waiting for the requests in flight; press Ctrl-C again to cancel them');
    controls.drain();
  };
  // The terminal was closed: a parent passes it on that the terminal has sent to this process as well.
  const hungUp = (): void => {
    if (!controls.draining.aborted) interrupted();
  };
  process.on('SIGINT', interrupted);
  process.on('SIGTERM', interrupted);
  process.on('SIGHUP', hungUp);
  return () => {
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', interrupted);
    process.off('SIGHUP', hungUp);
  };
}
