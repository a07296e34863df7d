import {
  FramingError,
  HeaderFields,
  LineReader,
  MAX_HEAD_BYTES,
  type KnownHead,
  ResponseHeadReader,
  type BodyLength,
  type ResponseHead,
} from './http-head.ts';

const CR = 13;
const LF = 10;
const SEMICOLON = 59;

const SIZE = 0;
const EXTENSION = 1;
const SIZE_LF = 2;
const DATA = 3;
const DATA_CR = 4;
const DATA_LF = 5;
const TRAILER = 6;
const DONE = 7;

/** 13 hexadecimal digits are below 2 ** 53. */
const MAX_DIGITS = 13;
const MAX_EXTENSION_BYTES = 4096;

/** Receives a body in pieces: [start, end) of the bytes being read, valid only during the call. */
interface BodySink {
  body(bytes: Buffer, start: number, end: number): void;
}

/** Decodes the chunked transfer coding (RFC 9112 §7.1) of a body; extensions and trailers are validated and dropped. */
class ChunkedBody {
  readonly #sink: BodySink;
  readonly #trailer = new LineReader(MAX_HEAD_BYTES);
  #state = SIZE;
  #digits = 0;
  #extensionBytes = 0;
  /** The size while it is read, then the remaining bytes of the chunk. */
  #left = 0;

  constructor(sink: BodySink) {
    this.#sink = sink;
  }

  get isWhole(): boolean {
    return this.#state === DONE;
  }

  /** Reads [from, length) as far as the body goes, and returns where it stopped. Throws a `FramingError`. */
  read(bytes: Buffer, from: number, length: number): number {
    let at = from;
    while (at < length) {
      switch (this.#state) {
        case SIZE:
          this.#sizeByte(bytes[at++] ?? 0);
          break;
        case EXTENSION:
          this.#extensionByte(bytes[at++] ?? 0);
          break;
        case SIZE_LF:
          if (bytes[at++] !== LF) throw new FramingError("a chunk's size does not end in CR LF");
          this.#state = this.#left === 0 ? TRAILER : DATA;
          break;
        case DATA: {
          const end = Math.min(at + this.#left, length);
          this.#left -= end - at;
          if (this.#left === 0) this.#state = DATA_CR;
          this.#sink.body(bytes, at, end);
          at = end;
          break;
        }
        case DATA_CR:
          if (bytes[at++] !== CR) throw new FramingError('a chunk is longer than its size');
          this.#state = DATA_LF;
          break;
        case DATA_LF:
          if (bytes[at++] !== LF) throw new FramingError('a chunk does not end in CR LF');
          this.#state = SIZE;
          this.#digits = 0;
          break;
        case TRAILER:
          at = this.#trailerLine(bytes, at, length);
          break;
        default:
          return at;
      }
    }
    return at;
  }

  #sizeByte(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.#digits > MAX_DIGITS) throw new FramingError("a chunk's size is too long");
      this.#left = this.#left * 16 + digit;
      return;
    }
    if (this.#digits === 0 || (byte !== CR && byte !== SEMICOLON)) throw new FramingError("an invalid chunk's size");
    this.#state = byte === CR ? SIZE_LF : EXTENSION;
  }

  #extensionByte(byte: number): void {
    if (++this.#extensionBytes > MAX_EXTENSION_BYTES) throw new FramingError('too many chunk extensions');
    if (byte === CR) this.#state = SIZE_LF;
    else if ((byte < 0x20 && byte !== 0x09) || byte === 0x7f) throw new FramingError('an invalid chunk extension');
  }

  #trailerLine(bytes: Buffer, from: number, length: number): number {
    const next = this.#trailer.read(bytes, from, length);
    if (next < 0) return length;
    if (this.#trailer.line === '') this.#state = DONE;
    else new HeaderFields().add(this.#trailer.line);
    return next;
  }
}

/** The value of a hexadecimal digit; -1 for any other byte. */
function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

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
