import { ChunkedBody } from './chunked-body.ts';
import type { BodySink } from './chunked-body.ts';
import { FramingError } from './framing-error.ts';
import type { KnownHead } from './known-head.ts';
import { ResponseHeadReader } from './response-head.ts';
import type { BodyLength, ResponseHead } from './response-head.ts';

const SWITCHING_PROTOCOLS = 101;

/** Receives one response: its head once, then its body in pieces that are valid only during the call. */
export interface ResponseSink extends BodySink {
  head(head: ResponseHead): void;
}

/**
 * Reads one response to a GET or POST by RFC 9112, strictly: everything that the RFC leaves to the recipient's
 * tolerance is rejected with a `FramingError`, after which the reader and its connection are unusable. Informational
 * responses (1xx) are skipped. The sink gets the same head and the same body regardless of how the bytes are split.
 */
export class RawResponseReader {
  readonly #sink: ResponseSink;
  readonly #known: KnownHead;
  /** Null until it has read a byte of a head. */
  #headReader: ResponseHeadReader | null = null;
  #head: ResponseHead | null = null;
  #chunked: ChunkedBody | null = null;
  #left = 0;
  #isWhole = false;

  /** `known`: shared by the readers of one server's responses. */
  constructor(sink: ResponseSink, known: KnownHead) {
    this.#sink = sink;
    this.#known = known;
  }

  /** Null until the head of the final response is complete. */
  get head(): ResponseHead | null {
    return this.#head;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Whether the end of the connection is the end of the response. */
  get endsWithConnection(): boolean {
    return this.#head?.bodyLength === 'until close';
  }

  /** Reads bytes[0, length) as far as the response goes, and returns where it stopped. */
  read(bytes: Buffer, length: number): number {
    let at = 0;
    while (at < length && !this.#isWhole) {
      at = this.#head === null ? this.#readHead(bytes, at, length) : this.#readBody(bytes, at, length, this.#head);
    }
    return at;
  }

  #readHead(bytes: Buffer, from: number, length: number): number {
    const isStart = this.#headReader === null;
    const known = isStart ? this.#known.recognize(bytes, from, length) : null;
    if (known !== null) {
      this.#take(known);
      return from + this.#known.length;
    }
    const reader = (this.#headReader ??= new ResponseHeadReader());
    const at = reader.read(bytes, from, length);
    const { head } = reader;
    if (head === null) return at;
    if (head.status === SWITCHING_PROTOCOLS) throw new FramingError('the server switched to another protocol');
    if (head.status < 200) {
      this.#headReader = null;
      return at;
    }
    if (isStart) this.#known.learn(bytes, from, at, head);
    this.#take(head);
    return at;
  }

  #take(head: ResponseHead): void {
    this.#head = head;
    this.#expectBody(head.bodyLength);
    this.#sink.head(head);
  }

  #expectBody(length: BodyLength): void {
    if (length === 'chunked') this.#chunked = new ChunkedBody(this.#sink);
    else if (length !== 'until close') {
      this.#left = length;
      this.#isWhole = length === 0;
    }
  }

  #readBody(bytes: Buffer, from: number, length: number, head: ResponseHead): number {
    if (this.#chunked !== null) {
      const at = this.#chunked.read(bytes, from, length);
      this.#isWhole = this.#chunked.isWhole;
      return at;
    }
    const end = head.bodyLength === 'until close' ? length : Math.min(from + this.#left, length);
    if (head.bodyLength !== 'until close') {
      this.#left -= end - from;
      this.#isWhole = this.#left === 0;
    }
    this.#sink.body(bytes, from, end);
    return end;
  }
}
