import type { JsonValue } from '../../core/run/canonical-json.ts';
import type { PhaseName } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';

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
