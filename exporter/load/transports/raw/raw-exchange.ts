import { messageExcerpt } from '../../../errors/message-excerpt.ts';
import { monotonicNow_ns } from '../../../clock/monotonic-clock.ts';
import {
  type ConnectionFacts,
  type Exchange,
  type ResponseHandler,
  type TransportFailure,
  type TransportRequest,
  ExchangeTrace,
} from '../transport.ts';
import { undiciFailure } from '../undici-failure.ts';
import { FramingError, type KnownHead, type ResponseHead } from './http-head.ts';
import type { ConnectionUser, RawConnection } from './raw-connection.ts';
import { RawResponseReader } from './response-reader.ts';
import type { ResponseSink } from './response-reader.ts';

/** What an exchange requires from its transport. */
export interface ExchangeOwner {
  readonly secrets: readonly string[];
  /** Whether the phases of exchanges are recorded. */
  readonly traces: boolean;
  /** The server's last head. */
  readonly knownHead: KnownHead;
  /** Throws an Error when the request cannot be sent. */
  encode(request: TransportRequest): Buffer;
  /** An idle open connection; null when there is none. */
  kept(): RawConnection | null;
  opened(): RawConnection;
  /** A connection can be reused: its response was complete and did not forbid it. */
  keep(connection: RawConnection, head: ResponseHead): void;
  ended(exchange: RawExchange): void;
  /**
   * A response was rejected before any of it was reported: sends the request again with another transport, if there is
   * one.
   */
  askElsewhere(request: TransportRequest, handler: ResponseHandler): Exchange | null;
}

const CLOSED_EARLY = Object.assign(new Error('the server closed the connection before the end of the response'), {
  code: 'ECONNRESET',
});

/** One request and its response on a raw connection. */
export class RawExchange implements Exchange, ConnectionUser, ResponseSink {
  readonly #request: TransportRequest;
  readonly #handler: ResponseHandler;
  readonly #owner: ExchangeOwner;
  readonly #reader: RawResponseReader;
  readonly #trace: ExchangeTrace | null;
  #bytes: Buffer | null = null;
  #connection: RawConnection | null = null;
  #fresh = false;
  #written = false;
  #answered = false;
  #retried = false;
  #settled = false;
  #abortedWith: TransportFailure | null = null;
  #stamp_ns = 0;
  #elsewhere: Exchange | null = null;
  /** Its index in the transport's roster. */
  place = -1;

  constructor(request: TransportRequest, handler: ResponseHandler, owner: ExchangeOwner) {
    this.#request = request;
    this.#handler = handler;
    this.#owner = owner;
    this.#reader = new RawResponseReader(this, owner.knownHead);
    this.#trace = owner.traces ? new ExchangeTrace(monotonicNow_ns()) : null;
  }

  start(): void {
    try {
      this.#bytes = this.#owner.encode(this.#request);
    } catch (error) {
      const stamp_ns = monotonicNow_ns();
      const failure = undiciFailure(error, this.#owner.secrets);
      queueMicrotask(() => this.#fail(stamp_ns, failure));
      return;
    }
    this.#takeConnection();
  }

  abort(failure: TransportFailure): void {
    if (this.#elsewhere !== null) this.#elsewhere.abort(failure);
    if (this.#settled || this.#abortedWith !== null) return;
    this.#abortedWith = failure;
    this.#connection?.destroy();
    queueMicrotask(() => this.#fail(monotonicNow_ns(), failure));
  }

  connected(): void {
    if (this.#connection !== null) this.#trace?.opens(this.#connection.times);
    this.#write();
  }

  received(stamp_ns: number, buffer: Buffer, length: number): void {
    if (!this.#written) {
      // It was sent before the request, so it is not a response to it.
      this.#connection?.destroy();
      this.#takeConnection();
      return;
    }
    this.#answered = true;
    this.#stamp_ns = stamp_ns;
    let end: number;
    try {
      end = this.#reader.read(buffer, length);
    } catch (error) {
      if (!(error instanceof FramingError)) throw error;
      this.#refuse(stamp_ns, error);
      return;
    }
    if (this.#reader.isWhole) this.#finish(stamp_ns, end === length);
  }

  head(head: ResponseHead): void {
    this.#handler.head(head.status, head.headers, this.#facts());
  }

  body(bytes: Buffer, start: number, end: number): void {
    if (this.#abortedWith !== null) return;
    this.#trace?.received(this.#stamp_ns, end - start);
    this.#handler.data(this.#stamp_ns, bytes, start, end);
  }

  lost(stamp_ns: number, error: Error | null): void {
    if (this.#settled || this.#abortedWith !== null) return;
    if (!this.#written && !this.#fresh) {
      this.#takeConnection();
      return;
    }
    if (error === null && this.#reader.endsWithConnection) {
      this.#finish(stamp_ns, false);
      return;
    }
    const failure = undiciFailure(error ?? CLOSED_EARLY, this.#owner.secrets);
    // On an open connection, a TCP timeout means that the peer is gone.
    if (this.#written && failure.reason === 'connect_timeout') this.#fail(stamp_ns, { ...failure, reason: 'reset' });
    else if (failure.reason === 'reset' && !this.#fresh && !this.#answered && !this.#retried) this.#retry();
    else this.#fail(stamp_ns, failure);
  }

  /**
   * Unsolicited bytes since the last response, or the connection's end, are noticed before a kept connection is written
   * to.
   */
  #takeConnection(): void {
    const kept = this.#owner.kept();
    if (kept === null) {
      this.#open();
      return;
    }
    this.#connection = kept;
    kept.use(this);
    setImmediate(() => {
      if (this.#connection === kept && this.#abortedWith === null) this.#write();
    });
  }

  #open(): void {
    this.#fresh = true;
    this.#written = false;
    this.#connection = this.#owner.opened();
    this.#connection.use(this);
  }

  #retry(): void {
    this.#retried = true;
    this.#open();
  }

  #write(): void {
    if (this.#bytes === null || this.#connection === null) return;
    this.#written = true;
    const trace = this.#trace;
    if (trace === null) {
      this.#connection.write(this.#bytes);
      return;
    }
    trace.sending(monotonicNow_ns(), bodyLength(this.#request));
    this.#connection.write(this.#bytes, () => trace.sent(monotonicNow_ns()));
  }

  #finish(stamp_ns: number, nothingFollows: boolean): void {
    if (this.#settled || this.#abortedWith !== null) return;
    this.#settled = true;
    const connection = this.#connection;
    const { head } = this.#reader;
    if (connection !== null && head !== null) {
      // The response came before the request was written completely: the rest of the request blocks the connection.
      if (nothingFollows && head.persistent && connection.isFlushed) this.#owner.keep(connection, head);
      else connection.destroy();
    }
    this.#owner.ended(this);
    this.#handler.end(stamp_ns);
  }

  #refuse(stamp_ns: number, error: FramingError): void {
    if (this.#settled || this.#abortedWith !== null) return;
    this.#connection?.destroy();
    if (this.#reader.head === null) {
      this.#elsewhere = this.#owner.askElsewhere(this.#request, new AskedAgain(this.#handler));
      if (this.#elsewhere !== null) {
        this.#settled = true;
        this.#owner.ended(this);
        return;
      }
    }
    this.#fail(stamp_ns, { reason: 'protocol', message: messageExcerpt(`HTTP framing: ${error.message}`) });
  }

  #fail(stamp_ns: number, failure: TransportFailure): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#connection?.destroy();
    this.#owner.ended(this);
    this.#handler.failed(stamp_ns, failure, this.#facts());
  }

  #facts(): ConnectionFacts {
    const connect_ns = this.#fresh ? (this.#connection?.connect_ns ?? null) : null;
    const reused = this.#connection === null ? null : !this.#fresh;
    const tcp_connect_ns = this.#fresh ? (this.#connection?.tcp_connect_ns ?? null) : null;
    return {
      reused,
      connect_ns,
      tcp_connect_ns,
      retried: this.#retried,
      ...(this.#trace === null ? {} : { trace: this.#trace }),
    };
  }
}

function bodyLength({ body }: TransportRequest): number {
  return body === null ? 0 : Buffer.byteLength(body);
}

/** The handler of a request that was sent a second time by another transport. */
class AskedAgain implements ResponseHandler {
  readonly #handler: ResponseHandler;

  constructor(handler: ResponseHandler) {
    this.#handler = handler;
  }

  head(status: number, headers: Readonly<Record<string, string>>, connection: ConnectionFacts): void {
    this.#handler.head(status, headers, { ...connection, retried: true });
  }

  data(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.#handler.data(stamp_ns, bytes, start, end);
  }

  end(stamp_ns: number): void {
    this.#handler.end(stamp_ns);
  }

  failed(stamp_ns: number, failure: TransportFailure, connection: ConnectionFacts): void {
    this.#handler.failed(stamp_ns, failure, { ...connection, retried: true });
  }
}
