import type { Agent, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { messageExcerpt } from '../../errors/message-excerpt.ts';
import { Agent as HttpAgent, request as httpRequest } from '../../http-client/node-http.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { retryAfterSeconds } from '../../http-client/backoff.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import type { Protocol, Receiver } from './receiver.ts';

/** The outcome of one request. `reason` is one line for people. */
export type SendOutcome =
  /** `written`: samples and native histograms as counted by a receiver of 2.0; null if not reported. */
  | { readonly kind: 'written'; readonly written: number | null }
  /** May succeed later; `afterSeconds`: as the receiver wishes. */
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly status: number | null;
      readonly afterSeconds: number | null;
    }
  /** Never will; `written` as above: the part that was taken. */
  | { readonly kind: 'rejected'; readonly reason: string; readonly status: number; readonly written: number | null }
  /** The receiver does not know the protocol. */
  | { readonly kind: 'unsupported'; readonly reason: string }
  /** The URL, the credentials or the receiver must be changed first; no sample was looked at. */
  | { readonly kind: 'misconfigured'; readonly reason: string };

export interface ClientLimits {
  readonly connectTimeoutSeconds: number;
  /** From the request to the end of the response. */
  readonly totalTimeoutSeconds: number;
}

/** As in Prometheus: `remote_timeout` of 30 s. */
export const DEFAULT_CLIENT_LIMITS: ClientLimits = { connectTimeoutSeconds: 5, totalTimeoutSeconds: 30 };

const MAX_RESPONSE_BYTES = 65_536;

const PROTOCOL_HEADERS: Readonly<Record<Protocol, Readonly<Record<string, string>>>> = {
  '1': { 'content-type': 'application/x-protobuf', 'x-prometheus-remote-write-version': '0.1.0' },
  '2': {
    'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    'x-prometheus-remote-write-version': '2.0.0',
  },
};

/**
 * Sends requests of remote write 1.0 and 2.0 to one receiver over one kept-alive connection. It uses Node's HTTP client
 * because it runs in a worker thread, where unloading undici's WebAssembly can crash the process (nodejs/node#64500).
 */
export class RemoteWriteClient {
  readonly #receiver: Receiver;
  readonly #limits: ClientLimits;
  readonly #version: string;
  readonly #agent: Agent;

  constructor(receiver: Receiver, version: string, limits: ClientLimits = DEFAULT_CLIENT_LIMITS) {
    this.#receiver = receiver;
    this.#limits = limits;
    this.#version = version;
    const kept = { keepAlive: true, maxSockets: 1 };
    this.#agent = receiver.url.startsWith('https:')
      ? new HttpsAgent({ ...kept, ...receiver.tls })
      : new HttpAgent(kept);
  }

  /** Never rejects: failures are outcomes. `message` is the protobuf of that protocol. */
  async send(message: Uint8Array, protocol: Protocol, givenUp: AbortSignal | null = null): Promise<SendOutcome> {
    const { totalTimeoutSeconds } = this.#limits;
    const timeout = AbortSignal.timeout(totalTimeoutSeconds * 1000);
    try {
      const body = snappyCompress(message);
      const response = await this.#post(
        body,
        protocol,
        givenUp === null ? timeout : AbortSignal.any([timeout, givenUp]),
      );
      const text = await beginningOf(response);
      return outcomeOf(
        response.statusCode ?? 0,
        response.headers,
        protocol,
        messageExcerpt(text, this.#receiver.secrets),
      );
    } catch (error) {
      const reason = timeout.aborted ? `no response within ${totalTimeoutSeconds} s` : reasonOf(error);
      return {
        kind: 'retry',
        reason: messageExcerpt(reason, this.#receiver.secrets),
        status: null,
        afterSeconds: null,
      };
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Resolves with the status and headers of the response. */
  #post(body: Uint8Array, protocol: Protocol, signal: AbortSignal): Promise<IncomingMessage> {
    const { url, headers } = this.#receiver;
    const { connectTimeoutSeconds } = this.#limits;
    return new Promise((resolve, reject) => {
      const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, {
        method: 'POST',
        agent: this.#agent,
        signal,
        headers: {
          ...headers,
          ...PROTOCOL_HEADERS[protocol],
          'content-encoding': 'snappy',
          'content-length': body.length,
          'user-agent': `llmbench/${this.#version}`,
        },
      });
      request.on('response', resolve);
      request.on('error', reject);
      request.on('socket', (socket) => {
        if (!socket.connecting) return;
        const late = setTimeout(() => {
          request.destroy(new Error(`no connection after ${connectTimeoutSeconds} s`));
        }, connectTimeoutSeconds * 1000);
        socket.once('connect', () => clearTimeout(late));
        socket.once('close', () => clearTimeout(late));
      });
      request.end(body);
    });
  }
}

/** The specified reaction to each status (remote write 2.0, "Response", "Retries & Backoff"). */
function outcomeOf(status: number, headers: IncomingHttpHeaders, protocol: Protocol, text: string): SendOutcome {
  const reason = `HTTP ${status}${text === '' ? '' : `: ${text}`}`;
  const written = protocol === '2' ? writtenCount(headers) : null;
  if (status >= 200 && status < 300) {
    if (/^text\/html\b/i.test(headers['content-type'] ?? '')) {
      return {
        kind: 'misconfigured',
        reason: `HTTP ${status} with an HTML page: the URL is not a remote-write receiver`,
      };
    }
    // A receiver of 1.0 that ignores the content type reads the message as empty.
    return protocol === '2' && written === null
      ? { kind: 'unsupported', reason: `HTTP ${status} without the written counts` }
      : { kind: 'written', written };
  }
  const remedy = remedyFor(status, headers);
  if (remedy !== null) return { kind: 'misconfigured', reason: `${reason}; ${remedy}` };
  if (status === 415) return { kind: 'unsupported', reason };
  if (status === 500 && TOO_OLD.test(text)) return { kind: 'rejected', reason, status, written };
  if (TEMPORARY.has(status) || status >= 500) {
    const afterSeconds = retryAfterSeconds(single(headers['retry-after']), new Date());
    return { kind: 'retry', reason, status, afterSeconds };
  }
  // Receivers of 1.0 may respond like this to unknown content.
  if (status === 400 && protocol === '2' && written === null) return { kind: 'unsupported', reason };
  if (written === null && !ABOUT_CONTENT.has(status)) {
    return {
      kind: 'misconfigured',
      reason: `${reason}; the receiver, or a proxy before it, refuses requests: check --remote-write-url and --remote-write-header`,
    };
  }
  return { kind: 'rejected', reason, status, written };
}

/** Request Timeout, Too Early and Too Many Requests (RFC 9110, 8470, 6585). */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** Statuses of a request that was read, or of its size. Others come before a sample was looked at, often from a proxy. */
const ABOUT_CONTENT: ReadonlySet<number> = new Set([400, 409, 413, 422]);

/** The remedy for a status that a change of configuration can resolve; null if there is none. */
function remedyFor(status: number, headers: IncomingHttpHeaders): string | null {
  if (status >= 300 && status < 400) {
    const location = URL.canParse(headers.location ?? '') ? ` to ${publicUrl(headers.location ?? '')}` : '';
    return `the receiver redirects${location}: set --remote-write-url to the final URL`;
  }
  if (status === 401 || status === 403 || status === 407) {
    return 'check the credentials: --remote-write-username, --remote-write-bearer-env, --remote-write-header';
  }
  if (status === 404 || status === 405 || status === 410) {
    return 'check the path of --remote-write-url; Prometheus must run with --web.enable-remote-write-receiver';
  }
  return null;
}

/**
 * Prometheus 2 responds with 500 to a sample older than its `out_of_order_time_window`, later versions with 400.
 * Retrying cannot succeed and would hold up all later samples.
 */
const TOO_OLD = /^too old sample\b/;

const WRITTEN_HEADERS = ['samples', 'histograms'].map((what) => `x-prometheus-remote-write-${what}-written`);

/** Null if the receiver reports nothing; a single missing header counts as 0. */
function writtenCount(headers: IncomingHttpHeaders): number | null {
  const given = WRITTEN_HEADERS.flatMap((name) => {
    const text = single(headers[name]);
    return text !== undefined && /^\d{1,15}$/.test(text) ? [Number(text)] : [];
  });
  return given.length === 0 ? null : given.reduce((sum, count) => sum + count, 0);
}

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** The response is read to its end, so that the connection can be reused, unless it is unreasonably long. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) break;
  }
  return text;
}
