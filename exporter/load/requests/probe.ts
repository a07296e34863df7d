import type { ErrorReason } from '../../../core/run/record.ts';
import { runEpoch } from '../../clock/monotonic-clock.ts';
import { ExpectedError } from '../../errors/expected-error.ts';
import type { Proxy } from '../../http-client/proxy.ts';
import { limitsOutput, type GenerationOptions } from '../endpoints/endpoint.ts';
import type { RunControls } from '../phases/run-controls.ts';
import { ContentRecognizer } from '../responses/content-recognizer.ts';
import { EventQueue, readingOf, type ClosedRequest, Deadlines } from '../responses/response-reader.ts';
import { HTTP2_ONLY, type Transport } from '../transports/transport.ts';
import { modelListIfAny, modelNames } from './model-list.ts';
import type { RequestForm } from './request-feed.ts';
import { RequestSender } from './request-sender.ts';

/** A server that has no HTTP/1.1, with what to do. */
const HTTP2_PROBLEM = [
  'the server speaks HTTP/2 only, and llmbench HTTP/1.1',
  'Check the port of --url (gRPC uses HTTP/2), or enable HTTP/1.1 in the server or in a proxy before it',
] as const;

/**
 * One line for a server to which no connection could be opened, with what to do; null: there was one. `proxy`: the
 * connection was to it; null or absent: none.
 */
export function connectionFailure(
  origin: string,
  reason: ErrorReason,
  said: string,
  proxy: Pick<Proxy, 'name'> | null = null,
): string | null {
  if (proxy !== null && /^(?:\w+: )?Proxy (?:response|Authentication)/.test(said))
    return failureLine(
      proxy.name,
      `the proxy refuses the request (${said})`,
      'Set user name and password in its variable, or --no-proxy',
    );
  const line = (wrong: string, remedy: string): string =>
    proxy === null
      ? failureLine(origin, wrong, remedy)
      : failureLine(proxy.name, wrong, 'Check the proxy, or set --no-proxy');
  switch (reason) {
    case 'connect_refused':
      return line('connection refused', 'Check that the server runs, and host and port of --url');
    case 'connect_timeout':
      return line('connection timeout', 'Check that the host is reachable and the port is open');
    case 'dns':
      return line('unknown host name', 'Check the host of --url');
    case 'tls':
      if (said.includes('NO_APPLICATION_PROTOCOL')) return failureLine(origin, ...HTTP2_PROBLEM);
      if (said.includes('WRONG_VERSION_NUMBER'))
        return failureLine(origin, 'the server does not use TLS', 'Use http:// in --url');
      return failureLine(origin, `TLS failed (${said})`, tlsRemedy(said));
    default:
      return null;
  }
}

/** Statuses of a server that loads its model, and of a gateway in front of one that does not run yet. */
const NOT_READY: ReadonlySet<number | null> = new Set([502, 503, 504]);
const NO_CONNECTION: ReadonlySet<ErrorReason> = new Set(['connect_refused', 'connect_timeout', 'dns', 'reset']);

/** Whether a server may respond to the same request later. */
export const isNotReady = (reason: ErrorReason, status: number | null): boolean =>
  status === null ? NO_CONNECTION.has(reason) : NOT_READY.has(status);

export function failureLine(origin: string, wrong: string, remedy: string): string {
  return `${origin}: ${wrong.replace(/\.$/, '')}. ${remedy}`;
}

/** By the codes of Node and OpenSSL. */
function tlsRemedy(said: string): string {
  if (/SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/.test(said))
    return 'Set --tls-ca to the certificates of the authority to trust';
  if (said.includes('ALTNAME')) return 'Check the host of --url; --tls-server-name sets the name of the certificate';
  return 'Check the certificate, or whether the port uses http';
}

/** Maximum output length of a probe that must be read to its end. */
const PROBE_TOKENS = 16;
/**
 * How long a stream is watched after its first content. It has the length of the run's responses, because some events
 * come only in longer ones.
 */
const WATCHED_MS = 1000;
const SEEN_ENOUGH = 'watched long enough';

/** Why a run should not begin: one line with the problem and the remedy. */
export class ProbeError extends ExpectedError {
  readonly reason: ErrorReason;
  /** Null without a response. */
  readonly status: number | null;

  constructor(reason: ErrorReason, message: string, status: number | null = null) {
    super('server', message);
    this.reason = reason;
    this.status = status;
  }
}

interface ProbeOptions {
  readonly form: RequestForm;
  /** Shown in messages: scheme, host and port. */
  readonly origin: string;
  readonly modelsPath: string;
  /** Between this machine and the server; absent: none. */
  readonly proxy?: Proxy;
  readonly requestTimeoutSeconds: number;
  readonly secrets: readonly string[];
}

export interface ProbeResult {
  /** As given, or without fields that the server rejects. */
  readonly options: GenerationOptions;
  /** Whether the server reported the number of output tokens. */
  readonly reportsUsage: boolean;
  /** In lower case; empty without the header. */
  readonly contentType: string;
}

/**
 * Sends the one request that precedes a run and is not part of its results. Throws a `ProbeError` when the server
 * rejects it or does not respond with a stream. When a server rejects a field that the run can do without, the probe is
 * repeated without it.
 */
export async function probe(options: ProbeOptions, transport: Transport, controls: RunControls): Promise<ProbeResult> {
  const first = await ask(options, transport, controls);
  if (isUsable(first)) return resultOf(first, options.form.options);
  for (const changed of withoutRejectedFields(first, options.form)) {
    const next = await ask({ ...options, form: { ...options.form, options: changed } }, transport, controls);
    if (isUsable(next)) return resultOf(next, changed);
    if (next.record.reason !== 'http_4xx') break;
  }
  throw await probeError(first, options, transport);
}

const resultOf = ({ record, contentType }: ClosedRequest, options: GenerationOptions): ProbeResult => ({
  options,
  reportsUsage: record.output_tokens_source === 'usage',
  contentType,
});

/** A stream without text is valid: all tokens may be special tokens. */
function isUsable({ record, message }: ClosedRequest): boolean {
  return record.outcome === 'ok' || record.reason === 'no_content' || message === SEEN_ENOUGH;
}

/** Whether a part of a response shows all: where usage is not requested, only its end shows whether it is reported. */
const isPartEnough = ({ options }: RequestForm): boolean => options.stream !== false && options.includeUsage;

/** What newer models of OpenAI require instead of `max_tokens`. */
const OTHER_LENGTH_FIELD = 'max_completion_tokens';

/**
 * Other options to try after a rejected request, each once: without the fields that the server names. It may name none;
 * then the request may lack either or both, unless the server names something else in it.
 */
function withoutRejectedFields({ record, message }: ClosedRequest, form: RequestForm): readonly GenerationOptions[] {
  const { options, endpoint } = form;
  const said = message ?? '';
  if (record.reason !== 'http_4xx' || record.http_status === 401 || record.http_status === 403) return [];
  const changes: (readonly [isNamed: boolean, changed: Partial<GenerationOptions>])[] = [];
  if (sendsStreamOptions(form)) changes.push([/stream_options|include_usage/.test(said), { includeUsage: false }]);
  if (endpoint.type === 'chat' && options.lengthField === undefined && limitsOutput(endpoint, options))
    changes.push([/max_(?:completion_)?tokens/.test(said), { lengthField: OTHER_LENGTH_FIELD }]);
  const namesOne = changes.some(([isNamed]) => isNamed);
  if (!namesOne && (!isAboutTheBody(record.http_status) || namedField(said, form) !== null)) return [];
  const single = changes.toSorted(([a], [b]) => Number(b) - Number(a)).map(([, changed]) => changed);
  const both = single.length < 2 ? [] : [Object.assign({}, ...single) as Partial<GenerationOptions>];
  return [...single, ...both].map((changed) => ({ ...options, ...changed }));
}

const isAboutTheBody = (status: number | null): boolean => status === 400 || status === 422;

const sendsStreamOptions = ({ endpoint, options }: RequestForm): boolean =>
  (endpoint.type === 'chat' || endpoint.type === 'completions') && options.includeUsage && options.stream !== false;

/** Fields whose names are words of ordinary messages: only in quotes they name the field. */
const ORDINARY_WORDS: ReadonlySet<string> = new Set(['model', 'messages', 'prompt', 'input', 'stream', 'text', 'stop']);

/** The field of the body that a message names; null: none. */
function namedField(said: string, form: RequestForm): string | null {
  const body = JSON.parse(probeRequest(form).body) as object;
  const names = ['stream_options', ...Object.keys(body)].sort((a, b) => b.length - a.length);
  const isNamed = (name: string): boolean => {
    const word = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const pattern = ORDINARY_WORDS.has(name) ? `["'\`]${word}["'\`]` : `(?<![\\w-])${word}(?![\\w-])`;
    return new RegExp(pattern).test(said);
  };
  return names.find((name) => Object.hasOwn(body, name) && isNamed(name)) ?? null;
}

function probeRequest(form: RequestForm): { readonly body: string; readonly max_tokens: number } {
  const generation = form.dataset.request('probe', 0);
  const { max_tokens: planned } = generation;
  const max_tokens = isPartEnough(form) ? planned : Math.min(planned, PROBE_TOKENS);
  return { body: form.endpoint.body({ ...generation, max_tokens }, form.options), max_tokens };
}

async function ask(options: ProbeOptions, transport: Transport, controls: RunControls): Promise<ClosedRequest> {
  const { form, secrets, requestTimeoutSeconds } = options;
  let watching: NodeJS.Timeout | undefined;
  let seenEnough = (): void => undefined;
  const deadlines = new Deadlines({ requestTimeoutSeconds, firstTokenTimeoutSeconds: 0, idleTimeoutSeconds: 0 });
  const context = {
    endpoint: form.endpoint,
    recognizer: new ContentRecognizer(form.endpoint.variableKeys),
    queue: new EventQueue(),
    listener: {
      firstContent: () => {
        if (isPartEnough(form)) watching = setTimeout(() => seenEnough(), WATCHED_MS);
      },
      chunkGap: () => undefined,
    },
    epoch_ns: runEpoch().monotonic_ns,
    secrets,
    ...readingOf(form),
  };
  const sender = new RequestSender(transport, context, deadlines);
  const { body, max_tokens } = probeRequest(form);
  const request = { method: 'POST', path: form.path, headers: form.headers, body } as const;
  try {
    return await new Promise<ClosedRequest>((resolve) => {
      const turn = { index: 0, phase: 'warmup', due_ns: sender.now_ns() } as const;
      const reader = sender.send({ position: 0, max_tokens, request }, turn, (_reader, closed) => resolve(closed));
      seenEnough = () => reader.giveUp({ reason: 'cancelled', message: SEEN_ENOUGH });
      const giveUp = (): void => reader.giveUp({ reason: 'cancelled', message: 'ended before the run began' });
      if (controls.draining.aborted) giveUp();
      else controls.draining.addEventListener('abort', giveUp, { once: true });
    });
  } finally {
    clearTimeout(watching);
    deadlines.stop();
  }
}

async function probeError(closed: ClosedRequest, options: ProbeOptions, transport: Transport): Promise<ProbeError> {
  const reason = closed.record.reason ?? 'other';
  const status = closed.record.http_status;
  const said = closed.message ?? reason;
  const streamed = options.form.options.stream ?? true;
  const by = options.proxy === undefined ? '' : ` by the proxy ${options.proxy.name}`;
  const line = (wrong: string, remedy: string): ProbeError =>
    new ProbeError(reason, failureLine(`${options.origin}${by}`, wrong, remedy), status);
  const noConnection = connectionFailure(options.origin, reason, said, options.proxy);
  if (noConnection !== null) return new ProbeError(reason, noConnection);
  switch (reason) {
    case 'protocol':
      return line(...protocolProblem(said));
    case 'redirect':
      return line(said, 'Set --url to that address; --endpoint-path keeps a slash at its end');
    case 'compression':
      return line(said, 'Switch compression off in the server or proxy: it delays and merges chunks');
    case 'not_a_stream':
      return line(
        `the response is not ${streamed ? 'a stream' : 'JSON'} (${said})`,
        streamed
          ? 'The endpoint must respond to "stream": true with text/event-stream'
          : 'Check the path of --url and --endpoint-type',
      );
    case 'request_timeout':
      return line(
        `response timeout (${said})`,
        'Check that the model is loaded; --request-timeout-seconds sets the limit',
      );
    case 'cancelled':
      return new ProbeError(reason, said);
    default:
  }
  if (status === 401 || status === 403)
    return line(said, 'Check the API key: --api-key-env VARIABLE or --api-key-file FILE');
  if (status === 404) return line(said, await modelRemedy(options, transport));
  if (reason === 'http_4xx') return line(said, await rejectionRemedy(said, options, transport));
  if (isNotReady(reason, status)) return line(said, '--wait-ready SECONDS waits for a server that is not ready');
  if (reason === 'http_429') return line(said, 'The server limits the request rate: try again later');
  return line(
    `${reason}: ${said}`.replace(/^(\w+): \1/, '$1'),
    'The server must respond to one request before a run begins',
  );
}

/** By the field that the server names. */
async function rejectionRemedy(said: string, options: ProbeOptions, transport: Transport): Promise<string> {
  const { endpoint, dataset, options: sent } = options.form;
  const name = namedField(said, options.form);
  if (name === 'model' || (name === null && /\bmodel\b.*\b(?:not|unknown|invalid|unsupported)\b/i.test(said))) {
    const remedy = await otherModel(options, transport);
    if (remedy !== null) return remedy;
  }
  const payload = dataset.request('probe', 0).payload ?? {};
  switch (name) {
    case null:
    case 'model':
      return 'The server rejects the request: check --extra-inputs (NAME:null removes a field), --isl and --osl, --endpoint-type';
    case 'stream':
      return 'The server may have no streams: --no-streaming requests single responses';
    case 'stream_options':
      return '--extra-inputs stream_options:null sends none';
    case 'ignore_eos':
      return 'Remove --ignore-eos';
    case sent.lengthField ?? endpoint.lengthField:
      return `--isl and --osl set the lengths, and --extra-inputs ${name}:null sends no ${name}`;
    default:
      if (Object.hasOwn(payload, name)) return `--input-file sets ${name}: --extra-inputs ${name}:null removes it`;
      if (Object.hasOwn(sent.sampling, name)) return `Change or remove ${name} in --extra-inputs`;
      return `The server rejects ${name}: check --endpoint-type`;
  }
}

/** When the server lists models and this one is not among them. */
async function otherModel(options: ProbeOptions, transport: Transport): Promise<string | null> {
  const models = await modelListIfAny(transport, options.modelsPath, options.form.headers);
  const { model } = options.form.options;
  if (models === null || models.includes(model)) return null;
  if (models.length === 0) return 'The server lists no model: check that one is loaded';
  return `No model ${model}; the server has: ${modelNames(models, options.secrets)}. Set --model`;
}

/** What is wrong with the bytes of a response, and what to do. */
function protocolProblem(said: string): readonly [wrong: string, remedy: string] {
  if (said.includes('bytes of header lines'))
    return [
      `the response has ${said.replace(/^.*(more than)/, '$1')}`,
      'Remove headers in the server or its proxies, or raise the limit with NODE_OPTIONS=--max-http-header-size=65536',
    ];
  if (said.includes(HTTP2_ONLY)) return HTTP2_PROBLEM;
  return [`the response is not HTTP/1.1 (${said})`, 'Check the port of --url'];
}

async function modelRemedy(options: ProbeOptions, transport: Transport): Promise<string> {
  const [path] = options.form.path.split('?');
  return (
    (await otherModel(options, transport)) ??
    `No endpoint at ${path}: check the path of --url, --endpoint-path and --endpoint-type`
  );
}
