import { NOT_TRACED } from '../../../core/run/record.ts';
import type { HttpPhases } from '../../../core/run/record.ts';

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
