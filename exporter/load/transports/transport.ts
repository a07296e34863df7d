import { type ErrorReason, NOT_TRACED, type HttpPhases } from '../../../core/run/record.ts';
import type { TransportKind } from '../../../core/run/run.ts';

/**
 * `undici` supports http and https. `raw` uses less CPU and takes timestamps earlier, supports http only, and fails
 * responses that its strict reader rejects. `auto` is raw where that is possible: https and proxies use undici, and so does a
 * server from the first response whose head the strict reader rejects.
 */
export const TRANSPORT_CHOICES = ['auto', 'undici', 'raw'] as const;

export type TransportChoice = (typeof TRANSPORT_CHOICES)[number];

export const DEFAULT_TRANSPORT: TransportChoice = 'auto';

export const DEFAULT_CONNECT_TIMEOUT_SECONDS = 10;

/** One HTTP request, ready to be sent: nothing in it is computed on the hot path. */
export interface TransportRequest {
  readonly method: 'POST' | 'GET';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null when the request has none. */
  readonly body: string | Uint8Array | null;
}

/** A message of both transports: the first frame of HTTP/2 came instead of a response. */
export const HTTP2_ONLY = 'the server answers in HTTP/2';

/** Whether bytes begin with SETTINGS or GOAWAY of the connection (RFC 9113 §4.1), which a server of HTTP/2 sends first. */
export const beginsHttp2 = (bytes: ArrayLike<number>): boolean =>
  bytes.length >= 9 &&
  bytes[0] === 0 &&
  (bytes[3] === 4 || bytes[3] === 7) &&
  [5, 6, 7, 8].every((i) => bytes[i] === 0);

/** Why an exchange failed, before the meaning of its bytes was known. */
export interface TransportFailure {
  readonly reason: ErrorReason;
  /** One line for the user, cut to 200 characters; contains no header, key or query. */
  readonly message: string;
}

/**
 * The response as it arrives. Calls come in this order: head at most once, data any number of times, then end or failed
 * exactly once; none of them comes before `send` has returned. `stamp_ns` is CLOCK_MONOTONIC in nanoseconds, taken
 * first when the bytes were received, before they are read. A piece of the body is bytes[start, end), valid only during
 * the call: a handler that keeps it must copy it. Header names are in lower case. When `end` or `failed` comes, the
 * slot is free again: a request sent from within it may use the same connection.
 */
export interface ResponseHandler {
  head(status: number, headers: Readonly<Record<string, string>>, connection: ConnectionFacts): void;
  data(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void;
  end(stamp_ns: number): void;
  failed(stamp_ns: number, failure: TransportFailure, connection: ConnectionFacts): void;
}

export interface ConnectionFacts {
  /** Null when the request had no connection. */
  readonly reused: boolean | null;
  /** Time to open the connection of this request; null when it was already open or the time is not known. */
  readonly connect_ns: number | null;
  /** The TCP handshake in it, without DNS lookup and TLS; null without one to the server itself (a proxy, a Unix socket). */
  readonly tcp_connect_ns?: number | null;
  /**
   * True when the request was sent a second time: over a new connection, because a kept one turned out to be dead
   * before any byte of the response, or by another transport, because the first one rejected the head of the response.
   * The time lost stays in the request's latency.
   */
  readonly retried: boolean;
  /** Present only when the transport traces; complete when the exchange has ended. */
  readonly trace?: ExchangeTrace;
}

/** An exchange in progress. `abort` closes its connection; the handler then gets `failed` with the given reason. */
export interface Exchange {
  abort(failure: TransportFailure): void;
}

/** Sends requests to one origin. Callers do not know which HTTP client implements it. */
export interface Transport {
  /** The HTTP client in use; null or absent: several, or none of ours. */
  readonly kind?: TransportKind | null;
  send(request: TransportRequest, handler: ResponseHandler): Exchange;
  /** Closes every connection; exchanges in progress fail with `cancelled`. */
  close(): Promise<void>;
}

/**
 * When the steps of opening a connection were done, on CLOCK_MONOTONIC; null for a step that did not happen or is not
 * known.
 */
export interface ConnectionTimes {
  readonly started_ns: number;
  readonly lookedUp_ns: number | null;
  readonly tcpConnected_ns: number | null;
  /** Including TLS. */
  readonly connected_ns: number | null;
}

/**
 * The HTTP phases of one request, filled in by its transport as they happen. When a request is sent a second time its
 * phases are those of the second attempt, and the time lost before is in `http_blocked_ns`.
 */
export class ExchangeTrace {
  readonly #handedOver_ns: number;
  #connection: ConnectionTimes | null = null;
  #sendStart_ns: number | null = null;
  #sendEnd_ns: number | null = null;
  #firstBody_ns: number | null = null;
  #lastBody_ns: number | null = null;
  #sentBytes: number | null = null;
  #receivedBytes = 0;

  constructor(handedOver_ns: number) {
    this.#handedOver_ns = handedOver_ns;
  }

  /** It uses a connection that is opened for it. */
  opens(connection: ConnectionTimes): void {
    this.#connection = connection;
  }

  sending(stamp_ns: number, bodyBytes: number): void {
    this.#sendStart_ns = stamp_ns;
    this.#sendEnd_ns = null;
    this.#sentBytes = bodyBytes;
  }

  /** The last byte was passed to the operating system. */
  sent(stamp_ns: number): void {
    this.#sendEnd_ns ??= stamp_ns;
  }

  /** A piece of the response's body. */
  received(stamp_ns: number, bytes: number): void {
    this.#firstBody_ns ??= stamp_ns;
    this.#lastBody_ns = stamp_ns;
    this.#receivedBytes += bytes;
  }

  get phases(): HttpPhases {
    const connection = this.#connection;
    const dialled_ns = connection === null ? null : (connection.lookedUp_ns ?? connection.started_ns);
    // A server may respond before it has read the whole request.
    const waitedFrom_ns = this.#firstBody_ns === null ? null : earlier(this.#sendEnd_ns, this.#firstBody_ns);
    return {
      http_blocked_ns: between(this.#handedOver_ns, connection?.started_ns ?? this.#sendStart_ns),
      http_dns_lookup_ns: between(connection?.started_ns ?? null, connection?.lookedUp_ns ?? null),
      http_connecting_ns: between(dialled_ns, connection?.connected_ns ?? null),
      http_tls_handshaking_ns: tlsTime_ns(connection),
      http_sending_ns: between(this.#sendStart_ns, this.#sendEnd_ns),
      http_waiting_ns: between(waitedFrom_ns, this.#firstBody_ns),
      http_receiving_ns: between(this.#firstBody_ns, this.#lastBody_ns),
      http_data_sent_bytes: this.#sentBytes,
      http_data_received_bytes: this.#sendStart_ns === null ? null : this.#receivedBytes,
    };
  }
}

/** The phases of a request; nulls when it was not traced. */
export function httpPhases(trace: ExchangeTrace | undefined): HttpPhases {
  return trace?.phases ?? NOT_TRACED;
}

/** Plain TCP: the TCP connect is the whole connect. */
function tlsTime_ns(connection: ConnectionTimes | null): number | null {
  const duration_ns = between(connection?.tcpConnected_ns ?? null, connection?.connected_ns ?? null);
  return duration_ns === 0 ? null : duration_ns;
}

function earlier(a_ns: number | null, b_ns: number): number | null {
  return a_ns === null ? null : Math.min(a_ns, b_ns);
}

function between(from_ns: number | null, to_ns: number | null): number | null {
  return from_ns === null || to_ns === null ? null : Math.round(to_ns - from_ns);
}
