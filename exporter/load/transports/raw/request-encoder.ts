import { isFieldContent, isToken } from './http-head.ts';
import type { TransportRequest } from '../transport.ts';

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
