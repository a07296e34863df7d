import type { JsonValue } from '../../../core/run/canonical-json.ts';
import { detectFileType, TIMED_TYPES } from '../../load/datasets/detect-file-type.ts';
import { SAMPLING_STRATEGIES } from '../../load/datasets/file-dataset.ts';
import { firstLineOf } from '../../load/datasets/input-lines.ts';
import { parseSequenceDistribution } from '../../load/datasets/lengths.ts';
import { FILE_TYPES, type FileType, type DatasetRequest } from '../../load/datasets/open-dataset.ts';
import { DEFAULT_CACHE_BLOCK_TOKENS } from '../../load/datasets/prefix-reuse.ts';
import { DEFAULT_DATASET_ROWS, KNOWN_NAMES, MAX_DATASET_ROWS } from '../../load/datasets/named-dataset.ts';
import { parsePrefixLevels } from '../../load/datasets/prefix-tree.ts';
import { HISTORIES } from '../../load/datasets/planned-session.ts';
import {
  DEFAULT_INPUT_TOKENS,
  DEFAULT_OUTPUT_TOKENS,
  type ConversationShape,
} from '../../load/datasets/synthetic-dataset.ts';
import { ENDPOINT_TYPES } from '../../load/endpoints/endpoint-types.ts';
import { parseExtraInputs } from '../../load/endpoints/extra-inputs.ts';
import { DEFAULT_TOKENIZER_REVISION } from '../../load/tokenizers/tokenizer.ts';
import {
  DEFAULT_CONNECT_TIMEOUT_SECONDS,
  DEFAULT_TRANSPORT,
  TRANSPORT_CHOICES,
} from '../../load/transports/transport.ts';
import { DEFAULT_RESET_TIMEOUT_SECONDS, type CacheReset } from '../../run/reset-kv-cache.ts';
import type { TrafficRequest } from '../../run/run-request.ts';
import { CliError } from '../failure.ts';
import { MEDIA_OPTIONS, requestedMedia } from './media-options.ts';
import {
  choice,
  flag,
  integer,
  list,
  milliseconds,
  number,
  ratio,
  seconds,
  text,
  texts,
  type Option,
  type OptionValues,
} from './options.ts';
import { PROXY_OPTIONS, TLS_OPTIONS, tlsFiles } from './tls-options.ts';

const MAX_TOKENS = 1e7;
const TOKENS = { min: 1, max: MAX_TOKENS };
const TOKENS_OR_NONE = { min: 0, max: MAX_TOKENS };
const ONE_DAY_MS = 86_400_000;

const tokens = (help: string, fallback: number): Option<number> => integer(help, TOKENS_OR_NONE, fallback);

/** The API and its form: the names of `aiperf profile` where the meaning is the same. */
export const ENDPOINT_OPTIONS = {
  'endpoint-type': choice(ENDPOINT_TYPES, 'API of the endpoint', 'chat'),
  'endpoint-template': text(
    'FILE',
    'with --endpoint-type template: the request body, and the paths of values in the response',
    null,
  ),
  'output-fields': text(
    'NAMES',
    'with fields of unknown names in responses: only these count as output, comma-separated, or none (default: all with text)',
    null,
  ),
  'endpoint-path': text(
    'PATH',
    'path of the endpoint below --url, with its query if it has one, such as /chat/completions (default: by --endpoint-type)',
    null,
  ),
  streaming: flag('request streams (the default where the endpoint has them)', { conflicts: { 'no-streaming': null } }),
  'no-streaming': flag('request one JSON response; time to first token is then not available'),
  'api-key-env': text('VARIABLE', 'environment variable that holds the API key', null),
  'api-key-file': text('FILE', 'file that holds the API key', null),
  'max-tokens-field': text(
    'NAME',
    'field of the maximum output length in chat and completions (default: max_tokens, or max_completion_tokens if the server rejects it)',
    null,
  ),
  'ignore-eos': flag('make the server generate all of --osl (ignore_eos of vLLM and SGLang)'),
  'extra-inputs': list(
    texts(
      'NAME:VALUE',
      'field to send with each request, or a JSON object of fields; the value null removes a field; may be repeated',
    ),
  ),
};

/** What a file sets itself. */
const SYNTHETIC_ONLY = [
  ...[
    'seq-dist',
    'num-dataset-entries',
    'isl-stddev',
    'osl-stddev',
    'shared-system-prompt-length',
    'num-prefix-prompts',
    'prefix-tree',
    'prefix-zipf-alpha',
    'prime-prefixes',
  ],
  ...['user-context-prompt-length', 'session-turns-mean', 'session-turns-stddev', 'session-turn-delay-mean'],
];

const all = (names: readonly string[], why: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, why]));

/** What is sent. */
export const PROMPT_OPTIONS = {
  isl: {
    ...integer(`input tokens per request (default ${DEFAULT_INPUT_TOKENS}); exact with --tokenizer`, TOKENS, null),
  },
  'isl-stddev': tokens('standard deviation of --isl', 0),
  osl: {
    ...integer(`maximum output tokens per request (max_tokens; default ${DEFAULT_OUTPUT_TOKENS})`, TOKENS, null),
  },
  'osl-stddev': tokens('standard deviation of --osl', 0),
  'seq-dist': text(
    'DIST',
    'pairs of input and output lengths with percentages: "256,128:60;1024|100,512|50:40"',
    null,
    { conflicts: all(['isl', 'osl', 'isl-stddev', 'osl-stddev'], 'it sets all lengths') },
  ),
  'batch-size': integer(
    'texts per request of embeddings and pooling (default 1), documents of rerank and score (default 10), of --isl tokens each',
    { min: 1, max: 10_000 },
    null,
  ),
  'query-tokens': integer('tokens of the query of rerank and score (default 32)', TOKENS, null),
  'shared-system-prompt-length': tokens('tokens of a system prompt that all requests share', 0),
  'num-prefix-prompts': integer('number of prefixes that prompts begin with', { min: 0, max: 1e6 }, 0, {
    requires: ['--prefix-prompt-length'],
  }),
  'prefix-prompt-length': {
    ...tokens('tokens of each of these prefixes', 0),
    requires: ['--num-prefix-prompts'],
  },
  'prefix-tree': text(
    'COUNTxTOKENS[,…]',
    'prefixes that share their beginnings: 4x512,8x256 is 4 of 512 tokens, each continued by 8 of 256',
    null,
    { conflicts: { 'num-prefix-prompts': 'it sets the prefixes', 'prefix-prompt-length': 'it sets the prefixes' } },
  ),
  'prefix-zipf-alpha': number(
    'ALPHA',
    'popularity of the prefixes: the n-th is drawn with a probability proportional to 1 / n^ALPHA; 0: all alike',
    { min: 0, max: 10 },
    0,
    { requires: ['--num-prefix-prompts or --prefix-tree'] },
  ),
  'prime-prefixes': flag('begin the warm-up with one short request for each prefix, so that caches hold all of them', {
    requires: ['--num-prefix-prompts or --prefix-tree'],
    conflicts: {
      'num-dataset-entries': 'the warm-up may lack entries for some prefixes',
      'warmup-duration': 'the warm-up has to send all prefixes',
    },
  }),
  'cache-block-size': integer(
    `tokens of a block of the server's prefix cache, for the hit rate that is possible (default: what the servers report, else ${DEFAULT_CACHE_BLOCK_TOKENS})`,
    TOKENS,
    null,
  ),
  'user-context-prompt-length': tokens('tokens of a text that begins each conversation and is its own', 0),
  'session-turns-mean': number('N', 'turns of a conversation', { min: 1, max: 10_000 }, 1),
  'session-turns-stddev': number('N', 'standard deviation of the turns', { min: 0, max: 10_000 }, 0),
  'session-turn-delay-mean': milliseconds('delay before the next turn', { min: 0, max: ONE_DAY_MS }, 0),
  'session-turn-delay-stddev': milliseconds('standard deviation of this delay', { min: 0, max: ONE_DAY_MS }, 0),
  'session-delay-ratio': number('FACTOR', 'factor of these delays, also of those in a file', { min: 0, max: 1000 }, 1),
  'inter-turn-delay-cap-seconds': seconds(
    'longest pause before a request of a file of sessions, of users and of tools (default: none)',
    { min: 0, max: ONE_DAY_MS / 1000 },
    null,
    { requires: ['--input-file'] },
  ),
  history: choice(
    HISTORIES,
    'answers that later requests of a file of sessions repeat: those of the file where it has them, or those of the server',
    'recorded',
    { requires: ['--input-file'] },
  ),
  'num-dataset-entries': integer(
    'number of different requests or conversations before they repeat (default: no repeats)',
    { min: 1, max: 1e9 },
    null,
  ),
  'input-file': text('FILE', 'file with prompts or a trace, instead of random words', null, {
    conflicts: all(SYNTHETIC_ONLY, 'the file sets it'),
  }),
  dataset: text(
    'NAME',
    `data set to download once: hf:NAME[@REVISION][:SPLIT] of the Hugging Face hub, or ${KNOWN_NAMES.join(', ')}`,
    null,
  ),
  'dataset-rows': integer(
    'rows to download of a data set of the hub',
    { min: 1, max: MAX_DATASET_ROWS },
    DEFAULT_DATASET_ROWS,
    { requires: ['--dataset'] },
  ),
  'dataset-column': text('NAME', 'column with the prompts (default: the first of the usual names)', null, {
    requires: ['--dataset'],
  }),
  'custom-dataset-type': choice(FILE_TYPES, 'format of the file (default: detected)', null),
  'dataset-sampling-strategy': choice(SAMPLING_STRATEGIES, 'order in which the file is sent', 'sequential'),
  'isl-block-size': integer(
    'tokens per hash ID of a trace (default 512, 16 in a bailian_trace, 64 in tracelab)',
    TOKENS,
    null,
  ),
  tokenizer: text(
    'NAME',
    'a tokenizer.json or its folder, a model on the Hugging Face hub, or a tiktoken encoding',
    null,
  ),
  'check-usage': flag(
    "count the output of every response with --tokenizer and report the difference to the server's usage; costs CPU",
    { requires: ['--tokenizer'] },
  ),
  'tokenizer-revision': text('REVISION', 'branch, tag or commit of the model on the hub', DEFAULT_TOKENIZER_REVISION),
};

/** How the server is reached. */
export const CONNECTION_OPTIONS = {
  'connect-timeout-seconds': seconds(
    'timeout of opening a connection',
    { min: 0.01, max: 3600 },
    DEFAULT_CONNECT_TIMEOUT_SECONDS,
  ),
  transport: choice(TRANSPORT_CHOICES, 'HTTP client: raw has the least overhead and no https', DEFAULT_TRANSPORT),
  'unix-socket': text('PATH', 'connect to this socket; --url then gives only host and path', null),
  ...PROXY_OPTIONS,
  ...TLS_OPTIONS,
  'tls-server-name': text('NAME', "server name to verify in the certificate (default: the URL's host)", null),
  'export-http-trace': flag(
    'record the HTTP phases of each request: blocked, lookup, connecting, sending, waiting, receiving',
  ),
  'trace-sample-ratio': ratio(
    'send a traceparent header with every request, this part of them to be recorded by the servers; 1: all',
    0,
  ),
};

/** Resetting the server's caches. */
export const CACHE_OPTIONS = {
  'reset-kv-cache': flag("reset the server's prefix cache before each run (vLLM, SGLang, or the given path)"),
  'reset-kv-cache-path': text('PATH', 'path of the reset endpoint (POST)', null, { requires: ['--reset-kv-cache'] }),
  'reset-kv-cache-timeout-seconds': seconds(
    'timeout of the reset',
    { min: 0.01, max: 3600 },
    DEFAULT_RESET_TIMEOUT_SECONDS,
  ),
};

export const TRAFFIC_OPTIONS = {
  ...ENDPOINT_OPTIONS,
  ...PROMPT_OPTIONS,
  ...MEDIA_OPTIONS,
  ...CONNECTION_OPTIONS,
  ...CACHE_OPTIONS,
};

type TrafficOptions = OptionValues<typeof TRAFFIC_OPTIONS>;

/** Throws an `ExpectedError`. */
export function requestedTraffic(options: TrafficOptions, moreUrls: readonly string[]): TrafficRequest {
  return {
    moreUrls,
    connection: {
      unixSocket: options['unix-socket'],
      connectTimeoutSeconds: options['connect-timeout-seconds'],
      transport: options.transport,
      tls: tlsFiles(options, options['tls-server-name']),
      httpTrace: options['export-http-trace'],
      direct: options['no-proxy'],
    },
    apiKey: { environmentVariable: options['api-key-env'], file: options['api-key-file'] },
    endpointType: options['endpoint-type'],
    endpointTemplate: options['endpoint-template'],
    outputFields: requestedOutputFields(options['output-fields']),
    endpointPath: requestedPath(options['endpoint-path']),
    lengthField: requestedLengthField(options),
    stream: options.streaming ? true : options['no-streaming'] ? false : null,
    tokenizer: options.tokenizer === null ? null : { name: options.tokenizer, revision: options['tokenizer-revision'] },
    checkUsage: options['check-usage'],
    traceSampleRatio: options['trace-sample-ratio'],
    dataset: requestedDataset(options),
    cacheBlockTokens: options['cache-block-size'],
  };
}

/** Also as the notes of a run name them: `delta.name`. Null: all that have text. Throws a `CliError`. */
function requestedOutputFields(given: string | null): readonly string[] | null {
  if (given === null || given === 'none') return given === null ? null : [];
  const names = given.split(',').map((name) => name.trim().replace(/^(delta|message|text)\./, ''));
  const wrong = names.find((name) => !/^[\w.-]+$/.test(name));
  if (wrong !== undefined)
    throw new CliError(`--output-fields is '${given}' and must be names of fields, separated by commas, or none`);
  return [...new Set(names)].sort();
}

function requestedLengthField(options: TrafficOptions): string | null {
  const name = options['max-tokens-field'];
  if (name === null) return null;
  if (!/^[A-Za-z_][\w.-]*$/.test(name))
    throw new CliError(
      `--max-tokens-field is '${name}' and must be the name of a field, such as max_completion_tokens`,
    );
  if (options['endpoint-type'] !== 'chat' && options['endpoint-type'] !== 'completions')
    throw new CliError('--max-tokens-field requires --endpoint-type chat or completions');
  return name;
}

/** Without the value, which may contain a key. */
function requestedPath(path: string | null): string | null {
  if (path !== null && !/^\/[!"$-~]*$/.test(path))
    throw new CliError('--endpoint-path must begin with / and contain no spaces, such as /v1/chat/completions');
  return path;
}

/** Null: no reset. Throws a `CliError` for an invalid path. */
export function requestedReset(options: TrafficOptions): CacheReset | null {
  const path = options['reset-kv-cache-path'];
  if (path !== null && !path.startsWith('/'))
    throw new CliError(`--reset-kv-cache-path is '${path}' and must begin with /`);
  return options['reset-kv-cache'] ? { path, timeoutSeconds: options['reset-kv-cache-timeout-seconds'] } : null;
}

/** Extra inputs and `--ignore-eos`, a shorthand for one of them. */
export function requestedFields(options: TrafficOptions): Readonly<Record<string, JsonValue>> {
  const fields = parseExtraInputs(options['extra-inputs']);
  return options['ignore-eos'] ? { ignore_eos: true, ...fields } : fields;
}

function requestedDataset(options: TrafficOptions): TrafficRequest['dataset'] {
  const path = options['input-file'];
  const pairs = options['seq-dist'];
  const distribution = pairs === null ? null : parseSequenceDistribution(pairs);
  return {
    inputTokens: options.isl,
    outputTokens: options.osl,
    batchSize: options['batch-size'],
    queryTokens: options['query-tokens'],
    synthetic: synthetic(options, distribution),
    media: requestedMedia(options),
    file:
      path === null
        ? null
        : {
            path,
            ...requestedFileType(path, options['custom-dataset-type']),
            strategy: options['dataset-sampling-strategy'],
            blockTokens: options['isl-block-size'],
            delayRatio: options['session-delay-ratio'],
            delayCapSeconds: options['inter-turn-delay-cap-seconds'],
            history: options.history,
          },
  };
}

/** The given format of an input file, or the detected one. Throws a `CliError` when none is recognized. */
function requestedFileType(
  path: string,
  given: FileType | null,
): { readonly type: FileType; readonly isDetected: boolean } {
  if (given !== null) return { type: given, isDetected: false };
  const type = detectFileType(path);
  if (type === null) {
    throw new CliError(
      `${path}: the format is not recognized. The simplest has one line per prompt: {"text": "…"}; others with --custom-dataset-type ${FILE_TYPES.join('|')}`,
    );
  }
  return { type: type ?? 'single_turn', isDetected: type !== undefined };
}

function synthetic(
  options: TrafficOptions,
  distribution: ReturnType<typeof parseSequenceDistribution> | null,
): DatasetRequest['synthetic'] {
  return {
    inputStddev: options['isl-stddev'],
    outputStddev: options['osl-stddev'],
    distribution,
    systemPromptTokens: options['shared-system-prompt-length'],
    ...prefixes(options),
    userContextTokens: options['user-context-prompt-length'],
    conversations: conversations(options),
    entries: options['num-dataset-entries'],
  };
}

/** Throws a `ConfigurationError`. */
function prefixes(options: TrafficOptions): Pick<DatasetRequest['synthetic'], 'prefixes' | 'primed'> {
  const tree = options['prefix-tree'];
  const single = { count: options['num-prefix-prompts'], tokens: options['prefix-prompt-length'] };
  const levels = tree !== null ? parsePrefixLevels(tree) : single.count > 0 ? [single] : [];
  if (levels.length === 0) return {};
  return {
    prefixes: { levels, zipfAlpha: options['prefix-zipf-alpha'] },
    ...(options['prime-prefixes'] ? { primed: true } : {}),
  };
}

/** Null for single requests. */
function conversations(options: TrafficOptions): ConversationShape | null {
  const turns = { mean: options['session-turns-mean'], stddev: options['session-turns-stddev'] };
  if (turns.mean === 1 && turns.stddev === 0) return null;
  const delay = {
    mean: options['session-turn-delay-mean'] / 1000,
    stddev: options['session-turn-delay-stddev'] / 1000,
    ratio: options['session-delay-ratio'],
  };
  return { turns, delay };
}

export interface ScheduleOptions {
  readonly 'fixed-schedule': boolean;
  readonly 'no-fixed-schedule': boolean;
  readonly 'request-rate': readonly number[] | null;
  readonly stages: unknown;
  readonly 'input-file': string | null;
  readonly 'custom-dataset-type': FileType | null;
}

/**
 * Whether the requests come at the times of their input: when requested, and when the input is a trace whose first
 * request has a time, as in AIPerf. Throws a `CliError` when another option contradicts it.
 */
export function followsSchedule(options: ScheduleOptions): boolean {
  if (options['fixed-schedule'] || options['no-fixed-schedule']) return options['fixed-schedule'];
  const path = options['input-file'];
  if (path === null) return false;
  const { type } = requestedFileType(path, options['custom-dataset-type']);
  const isTimed = type === 'mooncake_trace' ? hasTimestamp(firstLineOf(path)) : TIMED_TYPES.has(type);
  if (!isTimed) return false;
  const beside = (['request-rate', 'stages'] as const).find((name) => options[name] !== null);
  if (beside !== undefined)
    throw new CliError(`${path} has timestamps: remove --${beside}, or ignore the timestamps with --no-fixed-schedule`);
  return true;
}

function hasTimestamp(line: string): boolean {
  try {
    const row: unknown = JSON.parse(line);
    return typeof row === 'object' && row !== null && 'timestamp' in row && typeof row.timestamp === 'number';
  } catch (error) {
    // Reading the whole file reports the line.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
