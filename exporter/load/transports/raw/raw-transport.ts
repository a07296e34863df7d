import { performance } from 'node:perf_hooks';
import type { TransportKind } from '../../../../core/run/run.ts';
import { Roster } from '../roster.ts';
import type { Exchange, ResponseHandler, Transport, TransportFailure, TransportRequest } from '../transport.ts';
import { KnownHead, RequestEncoder, type ResponseHead } from './http-head.ts';
import { RawConnection } from './raw-connection.ts';
import type { ConnectionAddress } from './raw-connection.ts';
import { RawExchange } from './raw-exchange.ts';
import type { ExchangeOwner } from './raw-exchange.ts';

export interface RawTransportOptions {
  /** Scheme, host and port; the scheme is http. */
  readonly origin: string;
  /** Time limit for opening a connection; default 10. */
  readonly connectTimeoutSeconds?: number;
  /** Texts that no message may contain, such as the API key. */
  readonly secrets?: readonly string[];
  /** Path of a unix socket to connect to, regardless of the origin's host. */
  readonly unixSocket?: string;
  /** Records the phases of each exchange; default: no. */
  readonly trace?: boolean;
  /**
   * Takes over when the strict reader rejects the head of a response: it gets that request a second time and all later
   * ones. It is closed with this transport. Without it such a response is a failure.
   */
  readonly fallback?: Transport;
}

// Same as undici: servers close idle connections after 5 s (uvicorn) or more, and slightly earlier than announced.
const KEPT_SECONDS = 4;
const MAX_KEPT_SECONDS = 600;
const SERVER_IS_EARLIER_SECONDS = 2;

/**
 * HTTP/1.1 without TLS on raw sockets: one read buffer, the clock is read before anything else, a strict reader of
 * responses (`RawResponseReader`), no stream objects, no redirects, no decompression, no limit on the time of a response.
 * Connections are opened as needed, one request at a time on each, and kept between requests: the caller determines how
 * many exist. A request whose kept connection turns out to be dead before any byte of the response is sent once more
 * over a new one.
 */
export class RawTransport implements Transport {
  readonly #address: ConnectionAddress;
  readonly #encoder: RequestEncoder;
  readonly #owner: ExchangeOwner;
  readonly #fallback: Transport | null;
  readonly #idle: RawConnection[] = [];
  readonly #open = new Set<RawConnection>();
  readonly #exchanges = new Roster<RawExchange>();
  #refused = false;
  #closed = false;

  /** Throws a TypeError when the scheme of the origin is not http. */
  constructor(options: RawTransportOptions) {
    const url = new URL(options.origin);
    if (url.protocol !== 'http:') throw new TypeError('raw sockets support http only');
    this.#address = {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? 80 : Number(url.port),
      unixSocket: options.unixSocket ?? null,
      connectTimeoutSeconds: options.connectTimeoutSeconds ?? 10,
    };
    this.#encoder = new RequestEncoder(url.host);
    this.#fallback = options.fallback ?? null;
    this.#owner = {
      secrets: options.secrets ?? [],
      traces: options.trace ?? false,
      knownHead: new KnownHead(),
      encode: (request) => this.#encoder.encode(request),
      kept: () => this.#keptConnection(),
      opened: () => this.#openConnection(),
      keep: (connection, head) => this.#keep(connection, head),
      ended: (exchange) => this.#exchanges.remove(exchange, exchange.place),
      askElsewhere: (request, handler) => {
        this.#refused = true;
        return this.#fallback?.send(request, handler) ?? null;
      },
    };
  }

  /** The transport of later requests. */
  get kind(): TransportKind | null {
    return this.#refused && this.#fallback !== null ? (this.#fallback.kind ?? null) : 'raw';
  }

  send(request: TransportRequest, handler: ResponseHandler): Exchange {
    if (this.#refused && this.#fallback !== null) return this.#fallback.send(request, handler);
    const exchange = new RawExchange(request, handler, this.#owner);
    exchange.place = this.#exchanges.add(exchange);
    if (this.#closed) exchange.abort({ reason: 'cancelled', message: 'the transport is closed' });
    else exchange.start();
    return exchange;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const failure: TransportFailure = { reason: 'cancelled', message: 'the run ended' };
    this.#exchanges.forEach((exchange) => exchange.abort(failure));
    const open = [...this.#open];
    for (const connection of open) connection.destroy();
    await Promise.all([...open.map((connection) => connection.closed()), this.#fallback?.close()]);
  }

  #openConnection(): RawConnection {
    const connection = new RawConnection(this.#address);
    this.#open.add(connection);
    void connection.closed().then(() => this.#open.delete(connection));
    return connection;
  }

  #keptConnection(): RawConnection | null {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.isGone) continue;
      if (performance.now() < connection.bestBefore_ms) return connection;
      connection.destroy();
    }
    return null;
  }

  #keep(connection: RawConnection, { keepAliveSeconds }: ResponseHead): void {
    const seconds =
      keepAliveSeconds === null
        ? KEPT_SECONDS
        : Math.min(keepAliveSeconds - SERVER_IS_EARLIER_SECONDS, MAX_KEPT_SECONDS);
    if (seconds <= 0) {
      connection.destroy();
      return;
    }
    connection.bestBefore_ms = performance.now() + seconds * 1000;
    connection.rest();
    this.#idle.push(connection);
  }
}
