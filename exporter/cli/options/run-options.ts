import { createHash, randomInt } from 'node:crypto';
import { isRunId } from '../../../core/run/run-id.ts';
import {
  DEFAULT_FIRST_TOKEN_TIMEOUT_SECONDS,
  DEFAULT_IDLE_TIMEOUT_SECONDS,
  DEFAULT_REQUEST_TIMEOUT_SECONDS,
} from '../../load/responses/response-reader.ts';
import { FRAMING_HEADERS } from '../../load/transports/raw/http-head.ts';
import { leavesOf } from '../../load/datasets/prefix-tree.ts';
import { DEFAULT_INPUT_TOKENS, DEFAULT_OUTPUT_TOKENS } from '../../load/datasets/synthetic-dataset.ts';
import { DEFAULT_LINGER_MAX_SECONDS } from '../../publish/linger.ts';
import { RUN_EXPORTS, type RunRequest } from '../../run/run-request.ts';
import { shardDirectory } from '../../store/run-paths.ts';
import { CliError } from '../failure.ts';
import { DEFAULT_DRAIN_TIMEOUT_SECONDS } from '../../servers/scrape/run-edges.ts';
import { OBJECTIVE_OPTIONS, requestedObjectives } from './objective-options.ts';
import { CHECK_OPTIONS } from './judge-options.ts';
import { GROUP_OPTIONS, scenarioName, TAGS } from './group-options.ts';
import type { HelpSection, SectionedHelp } from './help-text.ts';
import { MEDIA_OPTIONS } from './media-options.ts';
import {
  ARRIVAL_OPTIONS,
  END_OPTIONS,
  loadSteps,
  requestedLoad,
  WARMUP_OPTIONS,
  type LoadStep,
} from './load-options.ts';
import { MODEL_OPTIONS, requestedModels } from './model-options.ts';
import {
  DEFAULT_INTERVAL_SECONDS,
  definitions,
  formats,
  INTERVAL_RANGE,
  FOUND_PAGES_OPTIONS,
  PAGE_CREDENTIAL_OPTIONS,
  pageCredentials,
  targets,
} from './server-options.ts';
import { LOAD_SOURCE_OPTIONS } from './prometheus-options.ts';
import { PROVENANCE_OPTIONS, statedProvenance } from './provenance-options.ts';
import { PUBLISH_OPTIONS, requestedOutgoing } from './publish-options.ts';
import {
  CACHE_OPTIONS,
  CONNECTION_OPTIONS,
  ENDPOINT_OPTIONS,
  PROMPT_OPTIONS,
  requestedFields,
  requestedReset,
  requestedTraffic,
  followsSchedule,
} from './traffic-options.ts';
import { requestedShard, WORKER_OPTIONS } from './worker-options.ts';
import { STORAGE_OPTIONS, storageLocation } from './storage-options.ts';
import { headersOf } from './tls-options.ts';
import { choice, flag, integer, list, number, ratio, seconds, text, texts, type OptionValues } from './options.ts';

/** Number of variants of the texts to draw from. */
const NEW_TEXTS = 2 ** 40;
const ONE_WEEK_SECONDS = 604_800;

/** The server and its API. */
const SERVER_OPTIONS = {
  url: list(
    texts('URL', 'the server: http://host:8000, or the full URL of its endpoint; multiple values are used round-robin'),
  ),
  ...MODEL_OPTIONS,
  ...ENDPOINT_OPTIONS,
  header: list(texts('NAME:VALUE', 'a header to send with each request; may be repeated')),
};

const LIMIT_OPTIONS = {
  ...END_OPTIONS,
  'request-timeout-seconds': seconds(
    'timeout of a request',
    { min: 0.01, max: ONE_WEEK_SECONDS },
    DEFAULT_REQUEST_TIMEOUT_SECONDS,
  ),
  'first-token-timeout': seconds(
    'fail a streamed request without content after this time; 0: no limit',
    { min: 0, max: ONE_WEEK_SECONDS },
    DEFAULT_FIRST_TOKEN_TIMEOUT_SECONDS,
  ),
  'idle-timeout': seconds(
    'fail a request whose response has begun and then pauses for this time; 0: no limit',
    { min: 0, max: ONE_WEEK_SECONDS },
    DEFAULT_IDLE_TIMEOUT_SECONDS,
  ),
  'wait-ready': seconds(
    'wait up to this time for a server that refuses connections or answers 503 while it loads its model',
    { min: 0, max: ONE_WEEK_SECONDS },
    0,
  ),
  'failed-request-threshold': ratio('ratio of failed requests above which the run has failed', null),
  yes: flag('confirm a sweep or more than 64 concurrent requests to another machine'),
};

const PLAN_OPTIONS = {
  ...PROMPT_OPTIONS,
  ...LOAD_SOURCE_OPTIONS,
  ...MEDIA_OPTIONS,
  'random-seed': integer(
    'seed of lengths, arrivals and texts; by default lengths and arrivals use seed 0 and every run has new texts, so that no cache holds them',
    { min: 0, max: Number.MAX_SAFE_INTEGER },
    null,
  ),
  'prompt-variant': integer(
    'which texts of the plan to send: the same number sends the same texts; lengths, arrivals and fingerprint do not change',
    { min: 0, max: NEW_TEXTS - 1 },
    null,
  ),
};

const SERVER_METRICS_OPTIONS = {
  'server-metrics': targets(
    "metrics pages in addition to the server's own: http://host:8081/metrics, host:8081, system=host such as triton=host, k8s:NAMESPACE/SELECTOR of pods, or http-sd:URL",
  ),
  'gpu-telemetry': targets('DCGM exporter endpoints (default port 9400)'),
  ...FOUND_PAGES_OPTIONS,
  ...PAGE_CREDENTIAL_OPTIONS,
  'discover-local': flag('also scrape local ports that respond'),
  'no-discovery': flag("do not look for metrics pages at default ports of the server's host"),
  'no-server-metrics': flag("do not scrape the servers' metrics"),
  'server-metrics-interval': seconds(
    'scrape interval of each metrics page; scrapes load the measured servers',
    INTERVAL_RANGE,
    DEFAULT_INTERVAL_SECONDS,
  ),
  'server-metrics-formats': formats,
  'slice-duration': seconds(
    "also report the servers' statistics in slices of this length",
    { min: 0.1, max: ONE_WEEK_SECONDS },
    null,
  ),
  stats: definitions,
  'drain-timeout': seconds(
    'maximum time to wait for idle servers before the first measured request',
    { min: 0, max: 3600 },
    DEFAULT_DRAIN_TIMEOUT_SECONDS,
  ),
  ...CACHE_OPTIONS,
};

const OUTPUT_OPTIONS = {
  scenario: scenarioName('name of the benchmark in metrics and comparisons', 'default'),
  tag: list(TAGS),
  'runs-dir': text('DIR', 'directory of the stored runs', 'runs'),
  upload: storageLocation('also upload the run to S3-compatible object storage, e.g. s3://benchmarks/team-a'),
  'upload-timeout': seconds(
    'with --upload: time for which an upload is tried again while the storage is away or busy',
    { min: 0, max: 86_400 },
    600,
  ),
  ...STORAGE_OPTIONS,
  'run-id': text('ID', 'ID of the run: letters, digits and dashes', null),
  export: choice(
    ['none', ...RUN_EXPORTS] as const,
    "also export the run's summary in another tool's format: aiperf/profile_export_aiperf.json and .csv in the run directory",
    'none',
  ),
  json: flag('print the result as JSON'),
  verbose: flag('also print what is done, to standard error: probes, metrics pages, phases, requests and connections'),
  'show-servers': flag('also print what the servers reported: rates, percentiles with their bounds, gauges'),
};

/** How the live metrics of a run are served. */
export const LIVE_METRICS_OPTIONS = {
  'metrics-port': integer(
    'serve live metrics on this port, 0 for a free one; default: a free one if a `serve` watches --runs-dir, else none',
    { min: 0, max: 65_535 },
    null,
  ),
  'metrics-host': text('ADDRESS', 'listen address of the live metrics', '127.0.0.1'),
  'allowed-hosts': texts('NAME', 'additional host names to accept in requests for the live metrics'),
  'metrics-web-config-file': text(
    'FILE',
    "TLS, users and rate limit of the live metrics, in the format of Prometheus' web configuration file",
    null,
  ),
  'no-await-scrape': flag('send load before the live metrics have been scraped once'),
  linger: choice(
    ['auto', 'no'] as const,
    'keep serving the live metrics until every scraper has fetched the final values',
    'auto',
  ),
  'linger-max': seconds('maximum time to linger', { min: 0, max: 86_400 }, DEFAULT_LINGER_MAX_SECONDS),
};

/** The search for the capacity. */
export const FIND_OPTIONS = {
  find: choice(
    ['concurrency', 'request-rate'] as const,
    'search the largest load at which every --slo holds; --concurrency or --request-rate is the first load (default 1)',
    null,
    {
      requires: ['--slo, the objectives that must hold, such as --slo "ttft:p95<300ms"'],
      conflicts: {
        check: 'a search makes runs of different loads',
        shard: 'a search requires the whole load in one process',
        config: 'give the options as flags or environment variables',
        'fixed-schedule': 'the load of a trace cannot be varied',
        stages: 'a search sets the load',
        sweep: 'a search sets the load',
        'cool-down': 'a search ends its runs early, within a budget of requests',
        'num-profile-runs': 'a search repeats the runs that decide',
      },
    },
  ),
  'find-max': number(
    'LOAD',
    'highest load of the search (default: concurrency 512, 1000 requests per second)',
    { min: 1e-6, max: 1e6 },
    null,
    { requires: ['--find'] },
  ),
  'max-requests': integer('end the search before it sends more requests than this', { min: 1, max: 1e9 }, null, {
    requires: ['--find; a run is limited by --request-count'],
  }),
  'max-seconds': seconds('end the search after this time', { min: 1, max: ONE_WEEK_SECONDS }, null, {
    requires: ['--find; a run is limited by --benchmark-duration'],
  }),
};

/** The judgment on the run, with the options of `check`. */
const JUDGE_OPTIONS = {
  check: flag('judge the run against the baseline of its scenario, as `llmbench check` does'),
  ...CHECK_OPTIONS,
};

/** Flags of `run`: the names of `aiperf profile` where the meaning is the same. */
export const RUN_OPTIONS = {
  ...SERVER_OPTIONS,
  ...ARRIVAL_OPTIONS,
  ...LIMIT_OPTIONS,
  ...WARMUP_OPTIONS,
  ...PLAN_OPTIONS,
  ...OBJECTIVE_OPTIONS,
  ...JUDGE_OPTIONS,
  ...OUTPUT_OPTIONS,
  ...PROVENANCE_OPTIONS,
  ...GROUP_OPTIONS,
  ...FIND_OPTIONS,
  ...WORKER_OPTIONS,
  ...SERVER_METRICS_OPTIONS,
  ...LIVE_METRICS_OPTIONS,
  ...PUBLISH_OPTIONS,
  ...CONNECTION_OPTIONS,
};

const RUN_EXAMPLES = [
  'llmbench run --url http://localhost:8000 --model llama --concurrency 16 --request-count 500',
  'llmbench run --url localhost:8000 --model llama --concurrency 64 --benchmark-duration 120 --warmup-request-count 64 --isl 1024 --osl 256',
  'llmbench run --url https://example.org --model llama --api-key-env API_KEY --concurrency 4 --request-count 40 --json',
  'llmbench run --url localhost:8000 --model llama --request-rate 2000 --benchmark-duration 60 --workers 4',
  'llmbench run --url localhost:8000 --model llama --find concurrency \\\n    --slo "ttft:p95<300ms" --slo "error_ratio<=1%" --isl 1024 --osl 256',
  'llmbench run --url llm:8000 --model llama --concurrency 4096 \\\n    --request-count 100000 --shard 0/4 --run-id night-7 \\\n    --upload s3://benchmarks/team-a',
];

const HELP_SECTIONS: readonly HelpSection[] = [
  { name: 'server', title: 'the server and its API', options: SERVER_OPTIONS },
  { name: 'load', title: 'load: concurrency, rate, schedule', options: ARRIVAL_OPTIONS },
  { name: 'stop', title: 'end of the run and limits', options: LIMIT_OPTIONS },
  { name: 'warmup', title: 'warm-up', options: WARMUP_OPTIONS },
  { name: 'dataset', title: 'prompts, lengths, conversations, tokenizer', options: PLAN_OPTIONS },
  { name: 'gates', title: 'objectives and goodput', options: OBJECTIVE_OPTIONS },
  { name: 'check', title: 'judge the run against the baseline', options: JUDGE_OPTIONS },
  { name: 'output', title: 'names, files, JSON', options: OUTPUT_OPTIONS },
  { name: 'provenance', title: 'facts about what is measured', options: PROVENANCE_OPTIONS },
  { name: 'sweep', title: 'multiple runs with one command', options: GROUP_OPTIONS },
  { name: 'find', title: 'search the capacity', options: FIND_OPTIONS },
  { name: 'workers', title: 'multiple cores and machines', options: WORKER_OPTIONS },
  { name: 'server-metrics', title: "the servers' own metrics and caches", options: SERVER_METRICS_OPTIONS },
  { name: 'live', title: 'metrics of the running benchmark for Prometheus', options: LIVE_METRICS_OPTIONS },
  { name: 'publish', title: 'remote write, annotations in Grafana', options: PUBLISH_OPTIONS },
  { name: 'connection', title: 'TLS, sockets, HTTP client', options: CONNECTION_OPTIONS },
];

/** `run --help`. */
export const RUN_HELP: SectionedHelp = {
  usage:
    'llmbench run --url URL [--model NAME] (--concurrency N | --request-rate RATE) (--request-count N | --benchmark-duration S) [options]',
  sections: HELP_SECTIONS,
  common: [
    ...['url', 'model', 'api-key-env', 'concurrency', 'request-rate', 'request-count', 'benchmark-duration'],
    ...[
      'warmup-request-count',
      'isl',
      'osl',
      'input-file',
      'slo',
      'find',
      'goodput',
      'check',
      'scenario',
      'runs-dir',
      'upload',
      'config',
    ],
    ...['metrics-port', 'remote-write-url', 'json'],
  ],
  examples: RUN_EXAMPLES,
};

export type RunOptions = OptionValues<typeof RUN_OPTIONS>;

/** One request for each load of the options: several with lists. Throws a `CliError`. */
export function runRequests(given: RunOptions): readonly RunRequest[] {
  const options = { ...given, 'fixed-schedule': followsSchedule(given) };
  return loadSteps(options).map((step) => runRequest(options, step));
}

/** The request of one step. Throws a `CliError`. */
function runRequest(options: RunOptions, step: LoadStep): RunRequest {
  const [url, ...moreUrls] = options.url;
  if (url === undefined) throw new CliError('--url is required, for example --url http://localhost:8000');
  const runId = options['run-id'];
  if (runId !== null && !isRunId(runId))
    throw new CliError(`--run-id is '${runId}' and must be 1 to 64 letters, digits and dashes`);
  const seed = options['random-seed'] ?? 0;
  const traffic = requestedTraffic(options, moreUrls);
  const { prefixes, primed = false } = traffic.dataset.synthetic;
  const models = requestedModels(options);
  if (primed && models.models !== undefined)
    throw new CliError('--prime-prefixes cannot be used with several models: each has a cache of its own');
  const primingRequests = primed ? leavesOf(prefixes?.levels ?? []) : 0;
  return {
    url,
    ...models,
    scenario: options.scenario,
    tags: options.tag,
    ...requestedLoad(options, step, seed, primingRequests),
    workers: options.workers,
    shard: requestedShard(options),
    inputTokens: options.isl ?? DEFAULT_INPUT_TOKENS,
    outputTokens: options.osl ?? DEFAULT_OUTPUT_TOKENS,
    seed,
    textVariant: options['prompt-variant'] ?? (reusesTexts(options) ? 0 : newTexts(options)),
    group: null,
    sampling: requestedFields(options),
    headers: headersOf(options.header, '--header', FRAMING_HEADERS),
    traffic,
    cacheReset: isFirstShard(options) ? requestedReset(options) : null,
    requestTimeoutSeconds: options['request-timeout-seconds'],
    waitReadySeconds: options['wait-ready'],
    firstTokenTimeoutSeconds: options['first-token-timeout'],
    idleTimeoutSeconds: options['idle-timeout'],
    errorLimit: options['stop-after-errors'],
    failedRequestThreshold: options['failed-request-threshold'],
    serverMetrics: isFirstShard(options) ? serverMetrics(options) : null,
    metricsCredentials: pageCredentials(options),
    objectives: requestedObjectives(options),
    exports: options.export === 'none' ? [] : [options.export],
    stated: statedProvenance(options),
    runsDirectory: runsDirectory(options),
    runId,
    metricsPort: options['metrics-port'],
    metricsHost: options['metrics-host'],
    allowedHosts: options['allowed-hosts'],
    awaitScrape: !options['no-await-scrape'],
    lingerMaxSeconds: options.linger === 'no' ? 0 : options['linger-max'],
    outgoing: requestedOutgoing(options),
  };
}

const reusesTexts = (options: RunOptions): boolean => options['random-seed'] !== null || options['same-prompts'];

/** Shards cannot agree on a random number, but they have the same run ID. */
function newTexts({ shard, 'run-id': runId }: RunOptions): number {
  if (shard === null || runId === null) return randomInt(NEW_TEXTS);
  return textVariantOf(runId);
}

/** Which texts belong to a name: the same on every machine, others for every other name. */
export function textVariantOf(name: string): number {
  return createHash('sha256').update(name).digest().readUIntBE(0, 5);
}

/** Shards may share one directory: each has a folder of its own in it. */
function runsDirectory({ shard, 'run-id': runId, 'runs-dir': directory }: RunOptions): string {
  return shard === null || runId === null ? directory : shardDirectory(directory, runId, String(shard.part));
}

/** The servers are the same for all shards: one of them scrapes them and resets their caches. */
const isFirstShard = ({ shard }: RunOptions): boolean => shard === null || shard.part === 0;

function serverMetrics(options: RunOptions): RunRequest['serverMetrics'] {
  if (options['no-server-metrics']) return null;
  return {
    targets: [...options['server-metrics'], ...options['gpu-telemetry']],
    maxFoundPages: options['max-found-pages'],
    discoverLocal: options['discover-local'],
    discovery: !options['no-discovery'],
    hasOtherShards: (options.shard?.parts ?? 1) > 1,
    intervalSeconds: options['server-metrics-interval'],
    drainTimeoutSeconds: options['drain-timeout'],
    sliceSeconds: options['slice-duration'],
    definitions: options.stats,
    formats: options['server-metrics-formats'],
  };
}
