import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { isIP, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { buildConnector as Connect, Dispatcher } from 'undici';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';
import { maxHeaderSize } from '../../http-client/node-http.ts';
import { proxyAgent, type Proxy } from '../../http-client/proxy.ts';
import { buildConnector, Client } from '../../http-client/undici.ts';
import type { TlsSettings } from '../../http-client/tls-files.ts';
import { Roster } from './roster.ts';
import {
  type ConnectionFacts,
  type Exchange,
  type ResponseHandler,
  type Transport,
  type TransportFailure,
  type TransportRequest,
  ExchangeTrace,
  type ConnectionTimes,
} from './transport.ts';
import { undiciFailure } from './undici-failure.ts';

interface Traced {
  readonly trace: ExchangeTrace;
  readonly bodyBytes: number;
}

/**
 * When undici sends requests, from its diagnostics channels, which are the only source. Requests of other users pass
 * through the same channels and are ignored.
 */
class SendingTimes {
  readonly #requests = new WeakMap<object, Traced>();
  #handedOver: Traced | null = null;

  constructor() {
    for (const [channel, listener] of this.#listeners) subscribe(channel, listener);
  }

  /** Sends a request: `dispatch` passes it to undici. */
  of(trace: ExchangeTrace, bodyBytes: number, dispatch: () => void): void {
    this.#handedOver = { trace, bodyBytes };
    try {
      dispatch();
    } finally {
      this.#handedOver = null;
    }
  }

  stop(): void {
    for (const [channel, listener] of this.#listeners) unsubscribe(channel, listener);
  }

  readonly #created = (message: unknown): void => {
    if (this.#handedOver !== null) this.#requests.set(requestOf(message), this.#handedOver);
    this.#handedOver = null;
  };

  readonly #sending = (message: unknown): void => {
    const traced = this.#requests.get(requestOf(message));
    traced?.trace.sending(monotonicNow_ns(), traced.bodyBytes);
  };

  readonly #sent = (message: unknown): void => {
    this.#requests.get(requestOf(message))?.trace.sent(monotonicNow_ns());
  };

  readonly #listeners = [
    ['undici:request:create', this.#created],
    ['undici:client:sendHeaders', this.#sending],
    ['undici:request:bodySent', this.#sent],
  ] as const;
}

/** Undici's own object of a request, the same in all its messages. */
function requestOf(message: unknown): object {
  return (message as { readonly request: object }).request;
}

export interface UndiciTransportOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Time limit for opening a connection; default 10. */
  readonly connectTimeoutSeconds?: number;
  /** Texts that no message may contain, such as the API key. */
  readonly secrets?: readonly string[];
  /** Path of a unix socket to connect to, regardless of the origin's host. */
  readonly unixSocket?: string;
  /** Records the phases of each exchange; default: no. */
  readonly trace?: boolean;
  /** Between this machine and the server; null or absent: none. */
  readonly proxy?: Proxy | null;
  readonly tls?: TlsSettings;
}

/**
 * HTTP/1.1 over undici's low-level dispatch: no stream objects, no redirects, no decompression, no limits of undici's
 * own on the time of a response. Connections are opened as needed, one request at a time on each, and kept between
 * requests: the caller determines how many exist. A request whose kept connection turns out to be dead before any byte
 * of the response is sent once more over a new one.
 */
export class UndiciTransport implements Transport {
  readonly kind = 'undici';
  readonly #options: UndiciTransportOptions;
  readonly #secrets: readonly string[];
  readonly #sendingTimes: SendingTimes | null;
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #exchanges = new Roster<UndiciExchange>();
  #closed = false;

  constructor(options: UndiciTransportOptions) {
    this.#options = options;
    this.#secrets = options.secrets ?? [];
    this.#sendingTimes = options.trace === true ? new SendingTimes() : null;
  }

  send(request: TransportRequest, handler: ResponseHandler): Exchange {
    const connection = this.#idle.pop() ?? this.#connection();
    const { origin } = this.#options;
    const owner = { origin, secrets: this.#secrets, release: this.#release, sendingTimes: this.#sendingTimes };
    const exchange = new UndiciExchange(request, handler, connection, owner);
    exchange.place = this.#exchanges.add(exchange);
    if (this.#closed) exchange.abort({ reason: 'cancelled', message: 'the transport is closed' });
    else exchange.start();
    return exchange;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#exchanges.forEach((exchange) => exchange.abort({ reason: 'cancelled', message: 'the run ended' }));
    await Promise.all([...this.#open].map((connection) => connection.destroy()));
    this.#sendingTimes?.stop();
  }

  readonly #release = (exchange: UndiciExchange, connection: Connection): void => {
    this.#exchanges.remove(exchange, exchange.place);
    if (connection.destroyed) this.#open.delete(connection);
    else this.#idle.push(connection);
  };

  #connection(): Connection {
    const connection = new Connection(this.#options);
    this.#open.add(connection);
    return connection;
  }
}

/** One undici client has one connection at a time: so each request's own connect time and reuse are known. */
class Connection {
  readonly client: Dispatcher;
  destroyed = false;
  /** Whether a connection was opened, or tried, since `forget`; and how long it took. */
  opened = false;
  connect_ns: number | null = null;
  /** The TCP handshake in it; null without one to the server itself. */
  tcp_connect_ns: number | null = null;
  #awaitsHead = true;
  #started_ns = 0;
  #lookedUp_ns: number | null = null;
  #tcpConnected_ns: number | null = null;
  #socket: { readonly bytesRead: number } | null = null;

  constructor(options: UndiciTransportOptions) {
    const { proxy = null, connectTimeoutSeconds = 10, tls = {}, unixSocket } = options;
    const client = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 };
    if (proxy !== null) {
      const { hostname } = new URL(options.origin);
      // Its clients open connections to the proxy, or through it.
      const factory = (origin: string | URL, { connect }: { readonly connect?: Connect.connector }): Dispatcher =>
        new Client(origin, { ...client, ...(connect === undefined ? {} : { connect: this.#timed(connect, false) }) });
      this.client = proxyAgent(proxy, { connectTimeoutSeconds, tls, hostname, client, factory });
      return;
    }
    const connect = buildConnector({
      ...tls,
      allowH2: false,
      ...(unixSocket === undefined ? {} : { socketPath: unixSocket }),
      timeout: connectTimeoutSeconds * 1000,
    });
    this.client = new Client(options.origin, { ...client, connect: this.#timed(connect, unixSocket === undefined) });
  }

  /** The connector, with when it opens a connection and how long that takes. */
  #timed(connect: Connect.connector, isDirect: boolean): Connect.connector {
    return (target, callback) => {
      const start_ns = (this.#started_ns = monotonicNow_ns());
      this.opened = true;
      const opening: unknown = connect(target, (error, socket) => {
        if (error != null) return callback(error, null);
        this.connect_ns = Math.round(monotonicNow_ns() - start_ns);
        this.#socket = socket;
        this.#skipContinues(socket);
        callback(null, socket);
      });
      if (isDirect && opening instanceof Socket) this.#watch(opening, target.hostname);
    };
  }

  get bytesRead(): number {
    return this.#socket?.bytesRead ?? 0;
  }

  get times(): ConnectionTimes {
    return {
      started_ns: this.#started_ns,
      lookedUp_ns: this.#lookedUp_ns,
      tcpConnected_ns: this.#tcpConnected_ns,
      connected_ns: this.connect_ns === null ? null : this.#started_ns + this.connect_ns,
    };
  }

  #watch(socket: Socket, hostname: string): void {
    this.#lookedUp_ns = null;
    this.#tcpConnected_ns = null;
    if (isIP(hostname.replace(/^\[|\]$/g, '')) === 0)
      socket.once('lookup', () => (this.#lookedUp_ns = monotonicNow_ns()));
    // Before undici's own listener, which already sends the request.
    socket.prependOnceListener('connect', () => {
      const now_ns = monotonicNow_ns();
      this.tcp_connect_ns = Math.round(now_ns - (this.#lookedUp_ns ?? this.#started_ns));
      // Without TLS the connection is then open.
      if (socket instanceof TLSSocket) this.#tcpConnected_ns = now_ns;
    });
  }

  /** Undici ends a connection on `100 Continue`, which a server may send unasked (RFC 9110 §15.2.1). */
  #skipContinues(socket: Socket): void {
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
    let held: Buffer | null = null;
    socket.read = (size?: number): Buffer | null => {
      const bytes = read(size);
      if (bytes === null || !this.#awaitsHead) return bytes;
      const start: Buffer = held === null ? bytes : Buffer.concat([held, bytes]);
      const rest = withoutContinues(start);
      held = rest === null ? start : null;
      this.#awaitsHead = rest === null || rest.length === 0;
      return rest === null || rest.length === 0 ? null : rest;
    };
  }

  forget(): void {
    this.#awaitsHead = true;
    this.opened = false;
    this.connect_ns = null;
    this.tcp_connect_ns = null;
  }

  async destroy(): Promise<void> {
    this.destroyed = true;
    await this.client.destroy();
  }
}

const CONTINUE = Buffer.from('HTTP/1.1 100');
const HEAD_END = '\r\n\r\n';

/** The bytes after all `100 Continue` at their start; null: the last of these is incomplete. */
function withoutContinues(bytes: Buffer): Buffer | null {
  let at = 0;
  for (;;) {
    const seen = Math.min(CONTINUE.length, bytes.length - at);
    if (bytes.compare(CONTINUE, 0, seen, at, at + seen) !== 0) return at === 0 ? bytes : bytes.subarray(at);
    if (seen === 0) return bytes.subarray(at);
    const end = seen < CONTINUE.length ? -1 : bytes.indexOf(HEAD_END, at);
    if (end < 0) return bytes.length - at > maxHeaderSize ? bytes.subarray(at) : null;
    at = end + HEAD_END.length;
  }
}

type Release = (exchange: UndiciExchange, connection: Connection) => void;

interface OwningTransport {
  readonly origin: string;
  readonly secrets: readonly string[];
  readonly release: Release;
  readonly sendingTimes: SendingTimes | null;
}

class UndiciExchange implements Exchange, Dispatcher.DispatchHandler {
  readonly #request: TransportRequest;
  readonly #handler: ResponseHandler;
  readonly #origin: string;
  readonly #connection: Connection;
  readonly #secrets: readonly string[];
  readonly #release: Release;
  readonly #sendingTimes: SendingTimes | null;
  readonly #trace: ExchangeTrace | null;
  #bytesReadBefore = 0;
  #answered = false;
  #retried = false;
  #settled = false;
  /** An error was reported; undici's agent for proxies may go on to report the response. */
  #failing = false;
  #abortedWith: TransportFailure | null = null;
  /** Its index in the transport's roster. */
  place = -1;

  constructor(
    request: TransportRequest,
    handler: ResponseHandler,
    connection: Connection,
    { origin, secrets, release, sendingTimes }: OwningTransport,
  ) {
    this.#origin = origin;
    this.#request = request;
    this.#handler = handler;
    this.#connection = connection;
    this.#secrets = secrets;
    this.#release = release;
    this.#sendingTimes = sendingTimes;
    this.#trace = sendingTimes === null ? null : new ExchangeTrace(monotonicNow_ns());
  }

  start(): void {
    this.#connection.forget();
    this.#bytesReadBefore = this.#connection.bytesRead;
    const { method, path, headers, body } = this.#request;
    const dispatch = (): boolean =>
      this.#connection.client.dispatch({ origin: this.#origin, method, path, headers, body }, this);
    if (this.#trace === null || this.#sendingTimes === null) dispatch();
    else this.#sendingTimes.of(this.#trace, body === null ? 0 : Buffer.byteLength(body), dispatch);
  }

  onRequestStart(): void {
    // Undici asks for the method; there is nothing to do before the response.
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200 || this.#settled) return; // 1xx: the answer is still to come
    this.#answered = true;
    this.#handler.head(status, flatHeaders(headers), this.#facts());
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Uint8Array): void {
    const stamp_ns = monotonicNow_ns();
    if (this.#settled || this.#failing) return;
    this.#trace?.received(stamp_ns, bytes.length);
    this.#handler.data(stamp_ns, bytes, 0, bytes.length);
  }

  onResponseEnd(): void {
    const stamp_ns = monotonicNow_ns();
    if (this.#settled || this.#failing) return;
    this.#settled = true;
    this.#release(this, this.#connection);
    this.#handler.end(stamp_ns);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const stamp_ns = monotonicNow_ns();
    if (this.#settled) return;
    const failure = this.#abortedWith ?? undiciFailure(error, this.#secrets);
    if (this.#abortedWith === null && failure.reason === 'reset' && this.#keptConnectionWasDead()) {
      this.#retried = true;
      // Undici has not yet closed the dead connection.
      setImmediate(() => {
        if (!this.#settled && this.#abortedWith === null) this.start();
      });
      return;
    }
    this.#failing = true;
    // Undici reports a request that it rejects from within dispatch.
    queueMicrotask(() => this.#fail(stamp_ns, failure));
  }

  abort(failure: TransportFailure): void {
    if (this.#settled || this.#abortedWith !== null) return;
    this.#abortedWith = failure;
    void this.#connection.destroy();
    queueMicrotask(() => this.#fail(monotonicNow_ns(), failure));
  }

  #fail(stamp_ns: number, failure: TransportFailure): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#release(this, this.#connection);
    this.#handler.failed(stamp_ns, failure, this.#facts());
  }

  #keptConnectionWasDead(): boolean {
    const connection = this.#connection;
    return !this.#retried && !this.#answered && !connection.opened && connection.bytesRead === this.#bytesReadBefore;
  }

  #facts(): ConnectionFacts {
    const { opened, connect_ns, tcp_connect_ns, times } = this.#connection;
    const facts = { reused: !opened, connect_ns, tcp_connect_ns, retried: this.#retried };
    if (this.#trace === null) return facts;
    if (opened) this.#trace.opens(times);
    return { ...facts, trace: this.#trace };
  }
}

function flatHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      // Undici keeps trailing spaces of a value.
      value === undefined ? [] : [[name, (typeof value === 'string' ? value : value.join(', ')).trimEnd()] as const],
    ),
  );
}
