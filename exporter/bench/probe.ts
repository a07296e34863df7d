import { ContentRecognizer } from './content-recognizer.ts';
import { Deadlines } from './deadlines.ts';
import { EventQueue } from './event-queue.ts';
import { messageExcerpt } from './message-excerpt.ts';
import { modelList } from './model-list.ts';
import { runEpoch } from './monotonic-clock.ts';
import type { RequestForm } from './request-feed.ts';
import { RequestSender } from './request-sender.ts';
import type { RunControls } from './run-controls.ts';
import { readingOf, type ClosedRequest } from './answer-reader.ts';
import type { Transport } from './transport.ts';
import type { ErrorReason } from '../../core/run/record.ts';

/** Longest answer that the probe asks for. */
const PROBE_TOKENS = 16;
/** Enough of a model list to find the right one in. */
const MODELS_SHOWN = 8;

/** Why a run should not begin: one line that says what is wrong and what to do. */
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
  /** False when the server refuses `stream_options`: then no token count of its own can be had. */
  readonly includeUsage: boolean;
}

/**
 * Sends the one request that goes before a run and is in none of its results. Throws a `ProbeError` when the server
 * refuses it or does not answer with a stream. A server that refuses `stream_options` is asked once more without.
 */
export async function probe(options: ProbeOptions, transport: Transport, controls: RunControls): Promise<ProbeResult> {
  const first = await ask(options, transport, controls);
  if (isUsable(first)) return { includeUsage: options.form.options.includeUsage };
  if (options.form.options.includeUsage && refusesStreamOptions(first)) {
    const form = { ...options.form, options: { ...options.form.options, includeUsage: false } };
    const second = await ask({ ...options, form }, transport, controls);
    if (isUsable(second)) return { includeUsage: false };
  }
  throw await probeError(first, options, transport);
}

/** An answer without text is a stream all the same: 16 tokens may all be special ones. */
function isUsable({ record }: ClosedRequest): boolean {
  return record.outcome === 'ok' || record.reason === 'no_content';
}

function refusesStreamOptions({ record, message }: ClosedRequest): boolean {
  return record.reason === 'http_4xx' && /stream_options|include_usage/.test(message ?? '');
}

async function ask(options: ProbeOptions, transport: Transport, controls: RunControls): Promise<ClosedRequest> {
  const { form, secrets, requestTimeoutSeconds } = options;
  const deadlines = new Deadlines({ requestTimeoutSeconds, idleTimeoutSeconds: 0 });
  const context = {
    endpoint: form.endpoint,
    recognizer: new ContentRecognizer(form.endpoint.variableKeys),
    queue: new EventQueue(),
    listener: { firstContent: () => undefined, chunkGap: () => undefined },
    epoch_ns: runEpoch().monotonic_ns,
    secrets,
    ...readingOf(form),
  };
  const sender = new RequestSender(transport, context, deadlines, []);
  const generation = form.dataset.request('probe', 0);
  const max_tokens = Math.min(generation.max_tokens, PROBE_TOKENS);
  const body = form.endpoint.body({ ...generation, max_tokens }, form.options);
  const request = { method: 'POST', path: form.path, headers: form.headers, body } as const;
  try {
    return await new Promise<ClosedRequest>((resolve) => {
      const reader = sender.send(
        { position: 0, max_tokens, request },
        0,
        'warmup',
        sender.now_ns(),
        (_reader, closed) => resolve(closed),
      );
      const giveUp = (): void => reader.giveUp({ reason: 'cancelled', message: 'ended before the run began' });
      if (controls.draining.aborted) giveUp();
      else controls.draining.addEventListener('abort', giveUp, { once: true });
    });
  } finally {
    deadlines.stop();
  }
}

async function probeError(closed: ClosedRequest, options: ProbeOptions, transport: Transport): Promise<ProbeError> {
  const reason = closed.record.reason ?? 'other';
  const status = closed.record.http_status;
  const said = closed.message ?? reason;
  const streamed = options.form.options.stream ?? true;
  const line = (wrong: string, remedy: string): ProbeError =>
    new ProbeError(reason, `${options.origin}: ${wrong.replace(/\.$/, '')}. ${remedy}`);
  switch (reason) {
    case 'connect_refused':
      return line('connection refused', 'Is the server running, and are host and port of --url right?');
    case 'connect_timeout':
      return line('no connection in time', 'Is the host reachable from here, and is the port open?');
    case 'dns':
      return line('the host name is not known', 'Check the host of --url');
    case 'tls':
      if (said.includes('WRONG_VERSION_NUMBER')) return line('what answers there is not TLS', 'Write http:// in --url');
      return line(`TLS failed (${said})`, 'Check the certificate, or whether the port speaks http');
    case 'not_a_stream':
      return line(
        `the answer is not ${streamed ? 'a stream' : 'JSON'} (${said})`,
        streamed
          ? 'The endpoint must answer "stream": true with text/event-stream'
          : 'Are the path of --url and --endpoint-type right?',
      );
    case 'request_timeout':
      return line(`no answer in time (${said})`, 'Is the model loaded? --request-timeout-seconds sets the limit');
    case 'cancelled':
      return new ProbeError(reason, said);
    default:
  }
  if (status === 401 || status === 403)
    return line(said, 'Is the API key right? --api-key-env VARIABLE or --api-key-file FILE gives it');
  if (status === 404) return line(said, await modelRemedy(options, transport));
  if (reason === 'http_4xx') {
    return line(
      said,
      'The server refuses the request as it is: check --extra-inputs, --isl and --osl, --endpoint-type',
    );
  }
  if (reason === 'http_429') return line(said, 'The server is rate limiting: try again later');
  return line(
    `${reason}: ${said}`.replace(/^(\w+): \1/, '$1'),
    'The server must answer one request before a run begins',
  );
}

async function modelRemedy(options: ProbeOptions, transport: Transport): Promise<string> {
  const models = await modelList(transport, options.modelsPath, options.form.headers);
  const { model } = options.form.options;
  if (models === null || models.includes(model)) {
    const [path] = options.form.path.split('?');
    return `Nothing answers at ${path}: check the path of --url, or --endpoint-type`;
  }
  if (models.length === 0) return 'The server lists no model at all: is one loaded?';
  const shown = models.slice(0, MODELS_SHOWN).map((id) => messageExcerpt(id, options.secrets));
  const more = models.length > MODELS_SHOWN ? `, and ${models.length - MODELS_SHOWN} more` : '';
  return `No model ${model}; the server has: ${shown.join(', ')}${more}. Set --model`;
}
