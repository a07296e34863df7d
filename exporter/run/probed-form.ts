import { pause } from '../clock/pause.ts';
import type { ErrorReason } from '../../core/run/record.ts';
import { ConfigurationError } from '../errors/expected-error.ts';
import { messageExcerpt } from '../errors/message-excerpt.ts';
import type { Proxy } from '../http-client/proxy.ts';
import type { RunControls } from '../load/phases/run-controls.ts';
import { modelList, modelNames } from '../load/requests/model-list.ts';
import { probe, connectionFailure, failureLine, isNotReady, ProbeError } from '../load/requests/probe.ts';
import type { RequestForm } from '../load/requests/request-feed.ts';
import { ExchangeError } from '../load/responses/whole-reader.ts';
import { waysOf } from '../load/transports/open-transport.ts';
import type { RequestTarget } from '../load/transports/target.ts';
import type { Transport } from '../load/transports/transport.ts';
import { serverAccess } from './prepared-traffic.ts';
import type { RunRequest } from './run-request.ts';

const PROBE_TIMEOUT_SECONDS = 120;

/** A server that takes longer gets a line, so that the terminal does not look dead. */
const WAITING_LINE_SECONDS = 3;

const NO_COUNTS =
  'reports no token counts: ITL and token throughput are not available; --tokenizer counts tokens on the client';

interface Probing {
  readonly request: Pick<RunRequest, 'requestTimeoutSeconds' | 'waitReadySeconds' | 'models'>;
  /** Each gets a probe for each model. */
  readonly targets: readonly RequestTarget[];
  readonly secrets: readonly string[];
  readonly transport: Transport;
  readonly controls: RunControls;
  readonly say: (line: string) => void;
}

/** The form of the requests after every server has responded to the probe. Throws `ProbeError`. */
export async function probedForm(
  form: RequestForm,
  { request, targets, secrets, transport, controls, say }: Probing,
): Promise<RequestForm> {
  const longest = Math.max(PROBE_TIMEOUT_SECONDS, request.waitReadySeconds);
  const requestTimeoutSeconds = Math.min(request.requestTimeoutSeconds, longest);
  const ways = waysOf(transport);
  const readiness = { seconds: request.waitReadySeconds, say, givenUp: controls.draining };
  let accepted = form;
  let reportUsage = true;
  const models = request.models?.models.map(({ model }) => model) ?? [form.options.model];
  const probes = targets.flatMap((target, at) => models.map((model) => ({ target, at, model })));
  for (let i = 0; i < probes.length; i++) {
    const { target, at, model } = probes[i] as (typeof probes)[number];
    const { origin, modelsPath, proxy } = target;
    const path = { origin, modelsPath, ...(proxy === undefined ? {} : { proxy }) };
    const sent = { ...accepted.options, model, baseModel: form.options.model };
    const options = { form: { ...accepted, options: sent }, ...path, requestTimeoutSeconds, secrets };
    const waiting = setTimeout(
      () => say(`waiting for ${origin} to respond to the probe request, at most ${requestTimeoutSeconds} s`),
      WAITING_LINE_SECONDS * 1000,
    );
    try {
      const way = ways[at] ?? transport;
      const probed = await whenReady(() => probe(options, way, controls), readiness);
      reportUsage &&= probed.reportsUsage;
      const { contentType } = probed;
      if (probed.options !== sent) {
        accepted = { ...accepted, options: { ...probed.options, model: form.options.model } };
        // Each server and model gets the same requests: those before it are probed again.
        if (i > 0) {
          [i, reportUsage] = [-1, true];
          continue;
        }
      }
      if (form.options.stream !== false && !contentType.startsWith('text/event-stream')) {
        say(
          `${origin} sends streams as '${messageExcerpt(contentType, secrets)}' instead of 'text/event-stream': proxies may buffer them`,
        );
      }
    } finally {
      clearTimeout(waiting);
    }
  }
  for (const line of changes(form, accepted, reportUsage)) say(line);
  return accepted;
}

/** What is sent otherwise than planned, and what follows. */
function* changes({ options: planned }: RequestForm, accepted: RequestForm, reportUsage: boolean): Iterable<string> {
  const { lengthField, includeUsage } = accepted.options;
  if (lengthField !== undefined && lengthField !== planned.lengthField)
    yield `the server rejects max_tokens: ${lengthField} is sent instead (--max-tokens-field ${lengthField} does so at once)`;
  if (includeUsage) return;
  const why = planned.includeUsage ? 'the server rejects stream_options and' : 'without stream_options the server';
  if (reportUsage) yield `${why} reports token counts ${planned.includeUsage ? 'without it' : 'all the same'}`;
  else if (accepted.countTokens === undefined) yield `${why} ${NO_COUNTS}`;
  else yield `${why} reports no token counts: the tokenizer of the client counts tokens`;
}

/**
 * The model that a server offers, when it offers exactly one. Throws a `ConfigurationError` when there is no such model
 * or the request cannot be sent, and a `ProbeError` when the server does not respond.
 */
export async function onlyModel(
  request: RunRequest,
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void = () => undefined,
): Promise<string> {
  const { targets, headers, secrets, openTransport } = await serverAccess(request, environment);
  const transport = await openTransport();
  const [{ origin, modelsPath, proxy }] = targets;
  const [path] = modelsPath.split('?');
  const ask = async (): Promise<readonly string[] | null> => {
    try {
      const { status, said, models } = await modelList(transport, modelsPath, headers);
      const refused = (reason: ErrorReason, remedy: string): ProbeError =>
        new ProbeError(reason, failureLine(origin, messageExcerpt(`HTTP ${status}: ${said}`, secrets), remedy), status);
      if (isNotReady('http_5xx', status))
        throw refused('http_5xx', '--wait-ready SECONDS waits for a server that is not ready');
      if (status === 401 || status === 403)
        throw refused('http_4xx', 'Check the API key: --api-key-env VARIABLE or --api-key-file FILE');
      return models;
    } catch (error) {
      if (error instanceof ExchangeError) throw new ProbeError(error.reason, noResponse(origin, error, proxy));
      throw error;
    }
  };
  try {
    const models = await whenReady(ask, { seconds: request.waitReadySeconds, say });
    if (models === null) throw new ConfigurationError(`--model is required: ${origin} does not list models at ${path}`);
    const [model, ...others] = models;
    if (model === undefined)
      throw new ConfigurationError(`--model is required: ${origin} lists no model, check that one is loaded`);
    if (others.length > 0)
      throw new ConfigurationError(
        `--model is required: ${origin} has ${models.length} models: ${modelNames(models, secrets)}`,
      );
    return model;
  } finally {
    await transport.close();
  }
}

function noResponse(origin: string, { reason, message }: ExchangeError, proxy?: Proxy): string {
  return (
    connectionFailure(origin, reason, message, proxy) ??
    failureLine(origin, message, 'Check that the server runs, and host and port of --url')
  );
}

const PAUSE_MS = 1000;

/** How long a command waits for a server that loads its model. */
interface Readiness {
  /** 0: not at all. */
  readonly seconds: number;
  readonly say: (line: string) => void;
  /** Ends the wait. */
  readonly givenUp?: AbortSignal;
}

/**
 * Repeats a first request until the server is ready: while nothing accepts connections, and while it or a gateway answers
 * 502, 503 or 504. Throws the `ProbeError` of the last attempt.
 */
async function whenReady<T>(attempt: () => Promise<T>, { seconds, say, givenUp }: Readiness): Promise<T> {
  const start_ms = performance.now();
  const waited_s = (): number => (performance.now() - start_ms) / 1000;
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      const waits = error instanceof ProbeError && isNotReady(error.reason, error.status) && seconds > 0;
      if (!waits || givenUp?.aborted === true) throw error;
      if (waited_s() >= seconds) {
        const line = `${error.message} (not ready after ${Math.round(waited_s())} s)`;
        throw new ProbeError(error.reason, line, error.status);
      }
      if (attempts === 1) say(`waiting until the server is ready, at most ${seconds} s: ${problemOf(error)}`);
      await pause(Math.min(PAUSE_MS, (seconds - waited_s()) * 1000), givenUp);
    }
  }
}

/** The message without its remedy. */
const problemOf = ({ message }: ProbeError): string => message.replace(/\. (?:--wait-ready|Check) .*$/s, '');
