import { FramingError } from './framing-error.ts';
import { HeaderFields } from './header-fields.ts';
import { LineReader } from './line-reader.ts';
import { MAX_HEAD_BYTES } from './response-head.ts';

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
export interface BodySink {
  body(bytes: Buffer, start: number, end: number): void;
}

/** Decodes the chunked transfer coding (RFC 9112 §7.1) of a body; extensions and trailers are validated and dropped. */
export class ChunkedBody {
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
