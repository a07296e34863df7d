import { ContentRecognizer } from '../answers/content-recognizer.ts';
import { Deadlines } from '../answers/deadlines.ts';
import { EventQueue } from '../answers/event-queue.ts';
import { runEpoch } from '../../clock/monotonic-clock.ts';
import type { RequestForm } from './request-feed.ts';
import { RequestSender } from './request-sender.ts';
import type { RunControls } from '../phases/run-controls.ts';
import { readingOf, type ClosedRequest } from '../answers/answer-reader.ts';
import type { Transport } from '../transports/transport.ts';
import type { ErrorReason } from '../../../core/run/record.ts';
import { connectionFailure, failureLine } from './connection-failure.ts';
import { modelListIfAny, modelNames } from './model-list.ts';

/** Maximum output length of a probe that must be read to its end. */
const PROBE_TOKENS = 16;
/**
 * How long a stream is watched after its first content. It has the length of the run's responses, because some events
 * come only in longer ones.
 */
const WATCHED_MS = 1000;
const SEEN_ENOUGH = 'watched long enough';

/** Why a run should not begin: one line with the problem and the remedy. */
export class ProbeError extends Error {
  readonly reason: ErrorReason;

  constructor(reason: ErrorReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface ProbeOptions {
  readonly form: RequestForm;
  /** Shown in messages: scheme, host and port. */
  readonly origin: string;
  readonly modelsPath: string;
  readonly requestTimeoutSeconds: number;
  readonly secrets: readonly string[];
}

export interface ProbeResult {
  /** False when the server rejects `stream_options`: then it reports no token counts. */
  readonly includeUsage: boolean;
  /** In lower case; empty without the header. */
  readonly contentType: string;
}

/**
 * Sends the one request that precedes a run and is not part of its results. Throws a `ProbeError` when the server
 * rejects it or does not respond with a stream. When a server rejects `stream_options`, the probe is repeated without
 * it.
 */
export async function probe(options: ProbeOptions, transport: Transport, controls: RunControls): Promise<ProbeResult> {
  const first = await ask(options, transport, controls);
  if (isUsable(first)) return { includeUsage: options.form.options.includeUsage, contentType: first.contentType };
  if (options.form.options.includeUsage && refusesStreamOptions(first)) {
    const form = { ...options.form, options: { ...options.form.options, includeUsage: false } };
    const second = await ask({ ...options, form }, transport, controls);
    if (isUsable(second)) return { includeUsage: false, contentType: second.contentType };
  }
  throw await probeError(first, options, transport);
}

/** A stream without text is valid: all tokens may be special tokens. */
function isUsable({ record, message }: ClosedRequest): boolean {
  return record.outcome === 'ok' || record.reason === 'no_content' || message === SEEN_ENOUGH;
}

/** Of the run's own responses if a part of one shows all: its end only has to be seen where usage is not requested. */
function probeTokens({ options }: RequestForm, planned: number): number {
  return options.stream !== false && options.includeUsage ? planned : Math.min(planned, PROBE_TOKENS);
}

function refusesStreamOptions({ record, message }: ClosedRequest): boolean {
  return record.reason === 'http_4xx' && /stream_options|include_usage/.test(message ?? '');
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
      firstContent: () => (watching = setTimeout(() => seenEnough(), WATCHED_MS)),
      chunkGap: () => undefined,
    },
    epoch_ns: runEpoch().monotonic_ns,
    secrets,
    ...readingOf(form),
  };
  const sender = new RequestSender(transport, context, deadlines, []);
  const generation = form.dataset.request('probe', 0);
  const max_tokens = probeTokens(form, generation.max_tokens);
  const body = form.endpoint.body({ ...generation, max_tokens }, form.options);
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
  const line = (wrong: string, remedy: string): ProbeError =>
    new ProbeError(reason, failureLine(options.origin, wrong, remedy));
  const noConnection = connectionFailure(options.origin, reason, said);
  if (noConnection !== null) return new ProbeError(reason, noConnection);
  switch (reason) {
    case 'protocol':
      return line(`the response is not HTTP/1.1 (${said})`, 'Check the port of --url');
    case 'redirect':
      return line(said, 'Set --url to the address to which the server redirects');
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
  if (reason === 'http_4xx') {
    return line(said, 'The server rejects the request: check --extra-inputs, --isl and --osl, --endpoint-type');
  }
  if (reason === 'http_429') return line(said, 'The server limits the request rate: try again later');
  return line(
    `${reason}: ${said}`.replace(/^(\w+): \1/, '$1'),
    'The server must respond to one request before a run begins',
  );
}

async function modelRemedy(options: ProbeOptions, transport: Transport): Promise<string> {
  const models = await modelListIfAny(transport, options.modelsPath, options.form.headers);
  const { model } = options.form.options;
  if (models === null || models.includes(model)) {
    const [path] = options.form.path.split('?');
    return `No endpoint at ${path}: check the path of --url, or --endpoint-type`;
  }
  if (models.length === 0) return 'The server lists no model: check that one is loaded';
  return `No model ${model}; the server has: ${modelNames(models, options.secrets)}. Set --model`;
}
