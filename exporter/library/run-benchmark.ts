import type { PhaseName, RequestRecord } from '../../core/run/record.ts';
import type { RunEvents } from '../../core/run/run-output.ts';
import { ExitCode, exitCodeOf } from '../cli/failure.ts';
import { GROUP_OPTIONS } from '../cli/options/group-options.ts';
import { CHECK_OPTIONS } from '../cli/options/judge-options.ts';
import { requestedRuns } from '../cli/options/requested-runs.ts';
import { FIND_OPTIONS, RUN_OPTIONS } from '../cli/options/run-options.ts';
import { requestedUploads } from '../cli/open-runs.ts';
import { VERSION } from '../cli/version.ts';
import { monotonicNow_ns } from '../clock/monotonic-clock.ts';
import { ConfigurationError, ExpectedError, RunNotStoredError } from '../errors/expected-error.ts';
import { LivePage } from '../http/live-page.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import { ProbeError } from '../load/requests/probe.ts';
import { performRun } from '../run/perform-run.ts';
import { checkLoad } from '../run/planned-load.ts';
import type { RunHost } from '../run/run-context.ts';
import type { RunRequest } from '../run/run-request.ts';
import { readFinishedRunFile } from '../store/sealed/read-run-files.ts';
import type { StoredRun } from './stored-runs.ts';
import type { JsonValue } from '../../core/run/canonical-json.ts';
import type { ResultFile } from '../../core/run/result.ts';

const INTERVAL_MS = 1000;

/** Counts what happens in a phase, and reports it at an interval. */
class ProgressTally implements RunEvents {
  readonly #now_ns: () => number;
  readonly #report: (progress: BenchmarkProgress) => void;
  readonly #timer: NodeJS.Timeout;
  #phase: PhaseName | null = null;
  #start_ns = 0;
  /** The cool-down begins before the measurement ends. */
  readonly #counts: Record<PhaseName, Counts> = { warmup: noCounts(), measure: noCounts(), cooldown: noCounts() };

  /** `now_ns` is the run's monotonic clock: nanoseconds since its start. */
  constructor(now_ns: () => number, report: (progress: BenchmarkProgress) => void) {
    this.#now_ns = now_ns;
    this.#report = report;
    this.#timer = setInterval(() => this.#tick(), INTERVAL_MS);
    this.#timer.unref();
  }

  phaseStarted(phase: PhaseName, at_ns: number): void {
    this.#phase = phase;
    this.#start_ns = at_ns;
  }

  requestSent(phase: PhaseName): void {
    this.#counts[phase].sent++;
  }

  requestEnded({ phase, outcome, output_tokens: tokens }: RequestRecord): void {
    const counts = this.#counts[phase];
    if (outcome !== 'ok') counts.failed++;
    else {
      counts.ok++;
      counts.outputTokens = counts.outputTokens === null || tokens === null ? null : counts.outputTokens + tokens;
    }
  }

  /** Reports the final counts. */
  stop(): void {
    clearInterval(this.#timer);
    this.#tick();
  }

  #tick(): void {
    if (this.#phase === null) return;
    const { sent, ok, failed, outputTokens } = this.#counts[this.#phase];
    this.#report({
      phase: this.#phase,
      elapsedSeconds: (this.#now_ns() - this.#start_ns) / 1e9,
      sent,
      ok,
      failed,
      inFlight: sent - ok - failed,
      outputTokens,
    });
  }
}

interface Counts {
  sent: number;
  ok: number;
  failed: number;
  outputTokens: number | null;
}

const noCounts = (): Counts => ({ sent: 0, ok: 0, failed: 0, outputTokens: 0 });

/** A run that was measured and stored. */
export interface BenchmarkRun extends StoredRun {
  /** Why the run is not `completed`, in one line; else null. */
  readonly failure: string | null;
  /** What a reader of the result must know, one line each. */
  readonly notes: readonly string[];
}

/**
 * Benchmarks a server as `llmbench run` does, and stores the run. Prints nothing and leaves the process's signals alone.
 * Resolves also for runs that are not `completed` (`result.status`); benchmarks of one process should follow each other,
 * because they would measure each other's load.
 *
 * Throws a `BenchmarkError` when nothing could be measured or stored, and the reason of `signal` when it was aborted
 * before the first request.
 */
export async function runBenchmark(options: BenchmarkOptions): Promise<BenchmarkRun> {
  const { signal } = options;
  signal?.throwIfAborted();
  const controls = new RunControls();
  const abort = (): void => controls.abort();
  signal?.addEventListener('abort', abort);
  try {
    return await perform(options, controls);
  } catch (error) {
    if (signal?.aborted && error instanceof ProbeError) throw signal.reason;
    throw explained(error);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

async function perform(options: BenchmarkOptions, controls: RunControls): Promise<BenchmarkRun> {
  const say = options.onMessage ?? (() => undefined);
  const { request, confirmed, uploads } = await requested(options, say);
  checkLoad(request, 1, confirmed);
  const page = new LivePage();
  try {
    const { result, failure, path, notes } = await performRun(request, controls, hostOf(options, page, say), VERSION);
    const isUploaded = (await uploads?.finish(controls.draining)) ?? true;
    const uploadNotes = isUploaded ? [] : ['the run is stored but was not uploaded'];
    return { path, run: await readFinishedRunFile(path), result, failure, notes: [...notes, ...uploadNotes] };
  } finally {
    await page.close();
  }
}

async function requested(options: BenchmarkOptions, say: (line: string) => void) {
  // No environment: what a library measures depends on its caller alone.
  const { requests, options: values } = await requestedRuns(optionWords(options), {});
  const [only, ...others] = requests;
  if (only === undefined || others.length > 0)
    throw new ConfigurationError(`these options describe ${requests.length} runs: call runBenchmark once for each`);
  const uploads = await requestedUploads(values, say);
  const request = withKey(only, options.apiKey);
  return { request: uploads?.requested(request) ?? request, confirmed: values.yes, uploads };
}

function withKey(request: RunRequest, key: string | undefined): RunRequest {
  if (key === undefined) return request;
  return { ...request, traffic: { ...request.traffic, apiKey: { ...request.traffic.apiKey, key } } };
}

function hostOf({ onProgress }: BenchmarkOptions, page: LivePage, say: (line: string) => void): RunHost {
  return {
    servePage: (live, pageOptions) => page.serve(live, pageOptions),
    say,
    observe: (epoch) =>
      onProgress === undefined
        ? { stop: () => undefined }
        : new ProgressTally(() => monotonicNow_ns() - epoch.monotonic_ns, onProgress),
  };
}

/** Expected failures get a code; anything else is an error of this program and stays as it is. */
function explained(error: unknown): unknown {
  if (error instanceof RunNotStoredError) return new BenchmarkError('not_stored', error, error.result);
  if (!(error instanceof ExpectedError)) return error;
  return new BenchmarkError(exitCodeOf(error) === ExitCode.refused ? 'refused' : 'failed', error);
}

/** What only the command can do: several runs, a verdict, output. */
const COMMAND_ONLY: ReadonlySet<string> = new Set([
  ...Object.keys({ ...GROUP_OPTIONS, ...FIND_OPTIONS, ...CHECK_OPTIONS }),
  ...['check', 'json', 'show-servers', 'verbose'],
]);

/** Options that the command does not have by that name. */
const OWN = ['apiKey', 'headers', 'extraInputs', 'runOptions', 'signal', 'onProgress', 'onMessage'] as const;

/** The words with which `llmbench run` measures the same; the key is not among them. Throws a `ConfigurationError`. */
function optionWords(options: BenchmarkOptions): readonly string[] {
  const { headers, extraInputs, runOptions } = options;
  const own: readonly string[] = OWN;
  const given: readonly (readonly [name: string, value: unknown])[] = [
    ...Object.entries(options).flatMap(([name, value]) => (own.includes(name) ? [] : [[dashed(name), value] as const])),
    ...Object.entries(headers ?? {}).map(([name, value]) => ['header', `${name}: ${value}`] as const),
    ...(extraInputs === undefined ? [] : [['extra-inputs', JSON.stringify(extraInputs)] as const]),
    ...Object.entries(runOptions ?? {}),
  ];
  return given.flatMap(([name, value]) => wordsOf(name, value));
}

const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function wordsOf(name: string, value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (COMMAND_ONLY.has(name))
    throw new ConfigurationError(`--${name} is an option of the command only: runBenchmark performs one run`);
  // `streaming: false` is --no-streaming.
  if (value === false && Object.hasOwn(RUN_OPTIONS, `no-${name}`)) return [`--no-${name}`];
  return (Array.isArray(value) ? value : [value]).map((each) => (each === true ? `--${name}` : `--${name}=${each}`));
}

/**
 * What to measure. The names are the options of `llmbench run` in camel case, with the same meanings, units, limits and
 * defaults; environment variables (`LLMBENCH_…`) are not read.
 */
export interface BenchmarkOptions {
  /** The server, `http://host:8000`, or the full URL of its endpoint; several are used round-robin. */
  readonly url: string | readonly string[];
  /** Name of the model on the server. */
  readonly model: string;
  /** Requests kept in flight. This or `requestRate` is required. */
  readonly concurrency?: number;
  /** Requests per second, whether or not earlier ones have ended. */
  readonly requestRate?: number;
  readonly arrivalPattern?: 'poisson' | 'constant' | 'gamma';
  /** Requests to measure. This or `benchmarkDuration` is required. */
  readonly requestCount?: number;
  /** In seconds. */
  readonly benchmarkDuration?: number;
  /** Requests before the measurement; they are in no result. */
  readonly warmupRequestCount?: number;
  /** In seconds. */
  readonly warmupDuration?: number;
  /** Input tokens per request. */
  readonly isl?: number;
  /** Maximum output tokens per request. */
  readonly osl?: number;
  /** Makes the server generate all of `osl`. */
  readonly ignoreEos?: boolean;
  /** Path of a file with prompts or a trace. */
  readonly inputFile?: string;
  /** A `tokenizer.json` or its folder, a model on the Hugging Face hub, or a tiktoken encoding. */
  readonly tokenizer?: string;
  /** Seed of lengths, arrivals and texts. By default texts are new in every run. */
  readonly randomSeed?: number;
  readonly endpointType?: string;
  /** Default: true where the endpoint supports it. */
  readonly streaming?: boolean;
  /** Sent as a bearer token; never stored. */
  readonly apiKey?: string;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields of each request's body. */
  readonly extraInputs?: Readonly<Record<string, JsonValue>>;
  /** In seconds. */
  readonly requestTimeoutSeconds?: number;
  /** Objectives such as `time_to_first_token:p95<300ms`; the result says whether they were met. */
  readonly slo?: string | readonly string[];
  /** Metrics pages of servers, in addition to those that are found. */
  readonly serverMetrics?: readonly string[];
  /** Name of the benchmark in metrics and comparisons. */
  readonly scenario?: string;
  readonly tag?: string | readonly string[];
  /** Directory of the stored runs, default `runs`. */
  readonly runsDir?: string;
  /** Serves live metrics on this port, 0 for a free one. Default: only if a `serve` watches `runsDir`. */
  readonly metricsPort?: number;
  /** Threads that generate the load. Default: as many as it requires. */
  readonly workers?: number;
  /** Confirms more than 64 concurrent requests to another machine. */
  readonly yes?: boolean;
  /** Any other option of `llmbench run` that concerns one run, by its name without dashes: `{'export-http-trace': true}`. */
  readonly runOptions?: Readonly<Record<string, string | number | boolean | readonly (string | number)[]>>;
  /** Ends the run early: requests in flight are cancelled, and the run is stored with the status `aborted`. */
  readonly signal?: AbortSignal;
  /** Called about once a second while requests are sent. */
  readonly onProgress?: (progress: BenchmarkProgress) => void;
  /** Called with lines that the command prints: what will be sent, what was found, what went wrong. */
  readonly onMessage?: (line: string) => void;
}

/** The state of a phase; counts begin at 0 with each phase. */
export interface BenchmarkProgress {
  readonly phase: PhaseName;
  readonly elapsedSeconds: number;
  readonly sent: number;
  readonly ok: number;
  /** Errors, timeouts and cancelled requests. */
  readonly failed: number;
  readonly inFlight: number;
  /** As the server reports them; null: a response had no count. */
  readonly outputTokens: number | null;
}

/** A benchmark that could not be made. The message is one line for people; `cause` is the error behind it. */
export class BenchmarkError extends Error {
  override readonly name = 'BenchmarkError';
  /**
   * `refused`: nothing was sent and nothing stored (options, runs directory, port, a load that requires `yes`). `failed`: the
   * server did not answer the probe request as required, or a worker ended. `not_stored`: measured, see `result`.
   */
  readonly code: 'refused' | 'failed' | 'not_stored';
  /** What was measured, with `not_stored`; else null. */
  readonly result: ResultFile | null;

  constructor(code: BenchmarkError['code'], cause: Error, result: ResultFile | null = null) {
    super(cause.message, { cause });
    this.code = code;
    this.result = result;
  }
}
