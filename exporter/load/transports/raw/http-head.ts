import { maxHeaderSize } from '../../../http-client/node-http.ts';
import { beginsHttp2, HTTP2_ONLY, type TransportRequest } from '../transport.ts';

/**
 * The bytes of a response are not the subset of HTTP/1.1 (RFC 9112) that the raw transport accepts. The message
 * contains none of them.
 */
export class FramingError extends Error {}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FIELD_CONTENT = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A name by RFC 9110 §5.1. */
function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** A field's value by RFC 9110 §5.5, with obs-text. */
function isFieldContent(text: string): boolean {
  return FIELD_CONTENT.test(text);
}

/**
 * The fields of a message's head, names in lower case. Throws a `FramingError` for what RFC 9112 §5 forbids: space
 * before the colon, a folded line, control characters.
 */
export class HeaderFields {
  readonly values: Record<string, string> = Object.create(null) as Record<string, string>;

  /** Adds one line. Values of a repeated field are joined as RFC 9110 §5.3 specifies. */
  add(line: string): void {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!isToken(name)) throw new FramingError('a header line has no valid name');
    const value = withoutOuterSpace(line, colon + 1);
    if (!isFieldContent(value)) throw new FramingError('a header holds a control character');
    const earlier = this.values[name];
    this.values[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }

  /** The members of a comma-separated field, in lower case. */
  list(name: string): readonly string[] {
    const value = this.values[name];
    return value === undefined ? [] : value.split(',').map((member) => member.trim().toLowerCase());
  }
}

function withoutOuterSpace(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isSpace(line.charCodeAt(start))) start++;
  while (end > start && isSpace(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09;

const LF = 10;

/** Assembles lines that end in CR LF, regardless of how they are split; their total length is limited. */
export class LineReader {
  readonly #limitBytes: number;
  #bytes = 0;
  #start = '';
  #line = '';

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The last complete line without its end, as Latin-1. */
  get line(): string {
    return this.#line;
  }

  /** The part of the current line that has arrived. */
  get start(): string {
    return this.#start;
  }

  /** Reads [from, length) to the end of the line. Returns the position after it, or -1 when the line is incomplete. */
  read(bytes: Buffer, from: number, length: number): number {
    let end = from;
    while (end < length && bytes[end] !== LF) end++;
    this.#bytes += end - from + 1;
    if (this.#bytes > this.#limitBytes) throw new FramingError(`more than ${this.#limitBytes} bytes of header lines`);
    const text = this.#start + bytes.toString('latin1', from, end);
    if (end === length) {
      this.#start = text;
      return -1;
    }
    if (!text.endsWith('\r')) throw new FramingError('a header line does not end in CR LF');
    this.#start = '';
    this.#line = text.slice(0, -1);
    return end + 1;
  }
}

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

/**
 * When every head of a server is different (an id in each, for example), caching is useless: it stops after this many.
 */
const LEARNED_WITHOUT_USE = 32;

/**
 * The last head that was read, so that the same bytes need no second parse: servers repeat a head for at least a
 * second.
 */
export class KnownHead {
  #bytes: Uint8Array | null = null;
  #head: ResponseHead | null = null;
  #learnedSinceUse = 0;

  /** Length of the head in bytes; 0 while none is known. */
  get length(): number {
    return this.#bytes?.length ?? 0;
  }

  /** The head when bytes[from, length) begins with it; else null. */
  recognize(bytes: Buffer, from: number, length: number): ResponseHead | null {
    const known = this.#bytes;
    if (known === null || length - from < known.length) return null;
    if (bytes.compare(known, 0, known.length, from, from + known.length) !== 0) return null;
    this.#learnedSinceUse = 0;
    return this.#head;
  }

  /** Stores a head that was read from bytes[from, end), all of it. */
  learn(bytes: Buffer, from: number, end: number, head: ResponseHead): void {
    if (this.#learnedSinceUse >= LEARNED_WITHOUT_USE) return;
    this.#learnedSinceUse++;
    this.#bytes = new Uint8Array(bytes.subarray(from, end));
    this.#head = head;
  }
}

/** Headers of the message's framing and connection, which only the transport can set. */
export const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Writes requests as HTTP/1.1. What all requests of a run share is validated and encoded once. */
export class RequestEncoder {
  readonly #host: string;
  #last: TransportRequest | null = null;
  #lastStart = '';

  /** `host` is the value of the header. */
  constructor(host: string) {
    this.#host = host;
  }

  /** The bytes of a request. Throws an Error that names the invalid part, without its value. */
  encode(request: TransportRequest): Buffer {
    const { method, body } = request;
    const bodyBytes = body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    const hasLength = bodyBytes > 0 || method === 'POST';
    const head = this.#start(request) + (hasLength ? `content-length: ${bodyBytes}\r\n\r\n` : '\r\n');
    const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
    bytes.write(head, 'latin1');
    if (typeof body === 'string') bytes.write(body, head.length, 'utf8');
    else if (body !== null) bytes.set(body, head.length);
    return bytes;
  }

  /** The request line and the given headers. */
  #start(request: TransportRequest): string {
    const last = this.#last;
    const { method, path, headers } = request;
    if (last?.headers !== headers || last.path !== path || last.method !== method) {
      this.#lastStart = startOf(request, this.#host);
      this.#last = request;
    }
    return this.#lastStart;
  }
}

function startOf({ method, path, headers }: TransportRequest, ownHost: string): string {
  if (!/^\/[\x21-\x7e\x80-\xff]*$/.test(path)) throw new Error("the request's path is invalid");
  let host = ownHost;
  let lines = '';
  for (const [name, value] of Object.entries(headers)) {
    const lowerCase = name.toLowerCase();
    if (!isToken(name)) throw new Error('the name of a header is invalid');
    if (!isFieldContent(value)) throw new Error(`the value of the header ${name} is invalid`);
    if (FRAMING_HEADERS.has(lowerCase)) throw new Error(`the header ${name} is set by the transport`);
    if (lowerCase === 'host') host = value;
    else lines += `${name}: ${value}\r\n`;
  }
  return `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${lines}`;
}
