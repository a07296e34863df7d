import { maxHeaderSize } from 'node:http';
import { beginsHttp2, HTTP2_ONLY } from '../transport.ts';
import { FramingError } from './framing-error.ts';
import { HeaderFields } from './header-fields.ts';
import { LineReader } from './line-reader.ts';

/** The limit of Node and of undici: 16 KiB, or what `node --max-http-header-size` sets. */
export const MAX_HEAD_BYTES = maxHeaderSize;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const STATUS_LINE_START = 'HTTP/1.';
const FRAME_HEAD_BYTES = 9;
const DIGITS = /^\d{1,15}$/;

/** Where a body ends: after this many bytes, after its last chunk, or with the connection. */
export type BodyLength = number | 'chunked' | 'until close';

export interface ResponseHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyLength: BodyLength;
  /** Whether the server keeps the connection open after this response. */
  readonly persistent: boolean;
  /** The seconds of `Keep-Alive: timeout=`; null when the server does not send it. */
  readonly keepAliveSeconds: number | null;
}

/** Reads the status line and the headers of one response (RFC 9112 §4, §5), regardless of how they are split. */
export class ResponseHeadReader {
  readonly #lines = new LineReader(MAX_HEAD_BYTES);
  readonly #fields = new HeaderFields();
  #minorVersion = -1;
  #status = 0;

  /** Null until the head is complete. */
  head: ResponseHead | null = null;

  /** Reads [from, length) as far as the head goes, and returns where it stopped. Throws a `FramingError`. */
  read(bytes: Buffer, from: number, length: number): number {
    let at = from;
    while (this.head === null && at < length) {
      const next = this.#lines.read(bytes, at, length);
      if (next < 0) {
        this.#checkStart();
        return length;
      }
      this.#line(this.#lines.line);
      at = next;
    }
    return at;
  }

  /** A server of another protocol may never send a line end: its first bytes identify it. */
  #checkStart(): void {
    if (this.#status === 0 && beginsHttp2(Buffer.from(this.#lines.start.slice(0, FRAME_HEAD_BYTES), 'latin1')))
      throw new FramingError(HTTP2_ONLY);
    const start = this.#lines.start.slice(0, STATUS_LINE_START.length);
    if (this.#status === 0 && !STATUS_LINE_START.startsWith(start)) throw new FramingError('not a response of HTTP/1');
  }

  #line(line: string): void {
    if (this.#status === 0) {
      const [, minor, status] = STATUS_LINE.exec(line) ?? [];
      if (status === undefined) throw new FramingError('not a status line of HTTP/1');
      this.#minorVersion = Number(minor);
      this.#status = Number(status);
    } else if (line === '') this.head = this.#whole();
    else this.#fields.add(line);
  }

  #whole(): ResponseHead {
    const options = this.#fields.list('connection');
    const bodyLength = this.#bodyLength();
    const mayPersist = this.#minorVersion === 1 ? !options.includes('close') : options.includes('keep-alive');
    return {
      status: this.#status,
      headers: this.#fields.values,
      bodyLength,
      persistent: mayPersist && bodyLength !== 'until close' && !this.#hasForbiddenBody(),
      keepAliveSeconds: this.#keepAliveSeconds(),
    };
  }

  /** RFC 9112 §6.3; what it calls an error or a possible attack is rejected. */
  #bodyLength(): BodyLength {
    const { 'content-length': length, 'transfer-encoding': coding } = this.#fields.values;
    if (coding !== undefined && length !== undefined)
      throw new FramingError('both a content-length and a transfer-encoding');
    if (coding !== undefined && coding.toLowerCase() !== 'chunked')
      throw new FramingError('a transfer-encoding other than chunked');
    if (coding !== undefined && this.#minorVersion === 0) throw new FramingError('a transfer-encoding in HTTP/1.0');
    if (length !== undefined && !DIGITS.test(length)) throw new FramingError('an invalid content-length');
    if (this.#hasNoBody()) return 0;
    if (coding !== undefined) return 'chunked';
    return length === undefined ? 'until close' : Number(length);
  }

  #hasNoBody(): boolean {
    return this.#status < 200 || this.#status === 204 || this.#status === 304;
  }

  /** A server that announces a body where none is allowed may also send it. */
  #hasForbiddenBody(): boolean {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = this.#fields.values;
    return this.#hasNoBody() && (Number(length) > 0 || coding !== undefined);
  }

  #keepAliveSeconds(): number | null {
    const seconds = /(?:^|[\s,])timeout\s*=\s*(\d{1,9})(?=$|[\s,])/i.exec(this.#fields.values['keep-alive'] ?? '')?.[1];
    return seconds === undefined ? null : Number(seconds);
  }
}
