import { isRunId } from '../../core/run/run-id.ts';
import { DEFAULT_GRACE_PERIOD_SECONDS } from '../bench/benchmark-plan.ts';
import { DEFAULT_REQUEST_TIMEOUT_SECONDS } from '../bench/deadlines.ts';
import { DEFAULT_INPUT_TOKENS, DEFAULT_OUTPUT_TOKENS } from '../bench/synthetic-dataset.ts';
import { DEFAULT_LINGER_MAX_SECONDS } from '../publish/linger.ts';
import type { RunRequest } from '../run/run-request.ts';
import { CliError } from './failure.ts';
import { choice, flag, integer, seconds, text, texts, type Values } from './options.ts';

const MOST_REQUESTS = 1e9;
const MOST_TOKENS = 1e7;
const ONE_WEEK_SECONDS = 604_800;

/** Flags of `run`: the names of `aiperf profile` where the meaning is the same. */
export const RUN_OPTIONS = {
  url: text('URL', 'the server: http://host:8000, or the whole address of its chat completions', null),
  model: text('NAME', 'the model, as the server names it', null),
  scenario: text('NAME', 'what this benchmark is called in metrics and comparisons', 'default'),
  concurrency: integer('requests in flight at any time', { min: 1, max: 100_000 }, 1),
  'request-count': integer('how many requests to measure', { min: 1, max: MOST_REQUESTS }, null),
  'benchmark-duration': seconds(
    'how long to measure; requests under way then are finished',
    { min: 0.1, max: ONE_WEEK_SECONDS },
    null,
  ),
  'benchmark-grace-period': seconds(
    'how long requests under way may take after the duration',
    { min: 0, max: ONE_WEEK_SECONDS },
    DEFAULT_GRACE_PERIOD_SECONDS,
  ),
  'warmup-request-count': integer('requests before the measuring, in no result', { min: 0, max: MOST_REQUESTS }, 0),
  isl: integer('input tokens to aim at, per request', { min: 1, max: MOST_TOKENS }, DEFAULT_INPUT_TOKENS),
  osl: integer('output tokens at most, per request (max_tokens)', { min: 1, max: MOST_TOKENS }, DEFAULT_OUTPUT_TOKENS),
  'ignore-eos': flag('ask the server to generate all of --osl (vLLM, SGLang: ignore_eos)'),
  'random-seed': integer('seed of the prompts', { min: 0, max: Number.MAX_SAFE_INTEGER }, 0),
  header: texts('NAME:VALUE', 'a header to send with each request; may be repeated'),
  'api-key-env': text('VARIABLE', 'the environment variable that holds the API key', null),
  'request-timeout-seconds': seconds(
    'how long a request may take',
    { min: 0.01, max: ONE_WEEK_SECONDS },
    DEFAULT_REQUEST_TIMEOUT_SECONDS,
  ),
  'failed-request-threshold': {
    ...seconds('share of requests (0 to 1) that may fail before the run counts as failed', { min: 0, max: 1 }, null),
    value: 'RATIO',
  },
  'runs-dir': text('DIR', 'where runs are kept', 'runs'),
  'run-id': text('ID', 'the name of the run: letters, digits and dashes', null),
  'metrics-port': integer(
    'serve live metrics on this port, 0 for a free one; by itself when a `serve` watches --runs-dir',
    { min: 0, max: 65_535 },
    null,
  ),
  'metrics-host': text('ADDRESS', 'address of the live metrics', '127.0.0.1'),
  linger: choice(
    ['auto', 'no'] as const,
    'keep serving the live metrics until every scraper has the final values',
    'auto',
  ),
  'linger-max': seconds('how long to linger at most', { min: 0, max: 86_400 }, DEFAULT_LINGER_MAX_SECONDS),
  yes: flag('more than 64 concurrent requests to a server that is not this machine are meant'),
  json: flag('print the result as JSON'),
};

export const RUN_EXAMPLES = [
  'llmbench run --url http://localhost:8000 --model llama --concurrency 16 --request-count 500',
  'llmbench run --url localhost:8000 --model llama --concurrency 64 --benchmark-duration 120 --warmup-request-count 64 --isl 1024 --osl 256',
  'llmbench run --url https://example.org --model llama --api-key-env API_KEY --concurrency 4 --request-count 40 --json',
];

type RunOptions = Values<typeof RUN_OPTIONS>;

/** What was asked for, with the checks that concern several options. Throws a `CliError`. */
export function runRequest(options: RunOptions, environment: NodeJS.ProcessEnv): RunRequest {
  if (options.url === null)
    throw new CliError('--url is missing: where is the server? For example --url http://localhost:8000');
  if (options.model === null)
    throw new CliError('--model is missing: which model is to be asked? The server lists them at /v1/models');
  if (options['request-count'] === null && options['benchmark-duration'] === null) {
    throw new CliError('give --request-count or --benchmark-duration: when does the benchmark end?');
  }
  const runId = options['run-id'];
  if (runId !== null && !isRunId(runId))
    throw new CliError(`--run-id is '${runId}' and must be 1 to 64 letters, digits and dashes`);
  return {
    url: options.url,
    model: options.model,
    scenario: options.scenario,
    concurrency: options.concurrency,
    requestCount: options['request-count'],
    durationSeconds: options['benchmark-duration'],
    gracePeriodSeconds: options['benchmark-grace-period'],
    warmupRequestCount: options['warmup-request-count'],
    inputTokens: options.isl,
    outputTokens: options.osl,
    seed: options['random-seed'],
    sampling: options['ignore-eos'] ? { ignore_eos: true } : {},
    headers: headers(options.header),
    apiKey: apiKey(options['api-key-env'], environment),
    requestTimeoutSeconds: options['request-timeout-seconds'],
    failedRequestThreshold: options['failed-request-threshold'],
    runsDirectory: options['runs-dir'],
    runId,
    metricsPort: options['metrics-port'],
    metricsHost: options['metrics-host'],
    lingerMaxSeconds: options.linger === 'no' ? 0 : options['linger-max'],
  };
}

/** RFC 9110 field names and values; the value is not repeated in the message, it may be a secret. */
function headers(given: readonly string[]): Readonly<Record<string, string>> {
  const entries = given.map((header) => {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t]*)$/.exec(header);
    if (match === null) throw new CliError(`--header '${header.split(':')[0]}…' must be NAME: VALUE`);
    return [(match[1] ?? '').toLowerCase(), match[2] ?? ''] as const;
  });
  return Object.fromEntries(entries);
}

function apiKey(variable: string | null, environment: NodeJS.ProcessEnv): string | null {
  if (variable === null) return null;
  const key = environment[variable];
  if (key === undefined || key === '')
    throw new CliError(`--api-key-env: the environment variable ${variable} is not set`);
  return key;
}
