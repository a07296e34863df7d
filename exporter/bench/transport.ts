import type { ErrorReason } from '../../core/run/record.ts';
import type { TransportKind } from '../../core/run/run.ts';
import type { ExchangeTrace } from './exchange-trace.ts';

/** One HTTP request, ready to be sent: nothing in it is computed on the hot path. */
export interface TransportRequest {
  readonly method: 'POST' | 'GET';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null when the request has none. */
  readonly body: string | Uint8Array | null;
}

/** Why an exchange failed, before anything was said about the meaning of its bytes. */
export interface TransportFailure {
  readonly reason: ErrorReason;
  /** One line for people, cut to 200 characters; carries no header, key or query. */
  readonly message: string;
}

/**
 * The answer as it arrives. Calls come in this order: head at most once, data any number of times, then end or failed
 * exactly once; none of them comes before `send` has returned. `stamp_ns` is CLOCK_MONOTONIC in nanoseconds, taken as the
 * first thing when the bytes were handed over, before they are looked at. A piece of the body is bytes[start, end), valid
 * only during the call: whoever keeps it takes a copy. Header names are in lower case. When `end` or `failed` comes, the slot is free again: a request
 * sent from within it may use the same connection.
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
  /** Time to open the connection of this request; null when it was open already or cannot be told. */
  readonly connect_ns: number | null;
  /**
   * True when the request was sent a second time: over a new connection, because a kept one turned out to be dead before
   * any byte of the answer, or by another transport, because the first one refused the head of the answer. The time lost
   * stays in the request's latency.
   */
  readonly retried: boolean;
  /** There only when the transport traces; complete when the exchange has ended. */
  readonly trace?: ExchangeTrace;
}

/** An exchange under way. `abort` closes its connection; the handler then gets `failed` with the reason given. */
export interface Exchange {
  abort(failure: TransportFailure): void;
}

/** A way to send requests to one origin. Nothing above this interface knows which HTTP client is behind it. */
export interface Transport {
  /** The HTTP client behind it at present; null or absent: several, or none of ours. */
  readonly kind?: TransportKind | null;
  send(request: TransportRequest, handler: ResponseHandler): Exchange;
  /** Closes every connection; exchanges under way fail with `cancelled`. */
  close(): Promise<void>;
}
