import type { ErrorReason } from '../../../core/run/record.ts';
import type { ResponseText, EventMeaning } from '../endpoints/endpoint.ts';
import type { TransportFailure, Transport, TransportRequest } from '../transports/transport.ts';
import { RespondedRequest } from './answered-request.ts';
import { keysOf } from './response-findings.ts';

/** A longer response is not read to its end. */
const MAX_RESPONSE_BYTES = 64 * 2 ** 20;

/**
 * Reads one response that is not a stream. It has an end and no first token: its record has the arrival of the last
 * byte as the time of the last content, and null as the time of the first.
 */
export class WholeReader extends RespondedRequest {
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  override data(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.lastByteAt_ns = stamp_ns;
    this.bodyStart.add(bytes, start, end);
    this.#bytes += end - start;
    if (this.#bytes <= MAX_RESPONSE_BYTES) this.#pieces.push(Uint8Array.prototype.slice.call(bytes, start, end));
    else this.giveUp({ reason: 'other', message: `the response exceeds the limit of ${MAX_RESPONSE_BYTES} bytes` });
  }

  protected override finish(stamp_ns: number, failure: TransportFailure | null): void {
    this.context.queue.push({ bytes: this.#bytes, process: () => this.#close(stamp_ns, failure) });
  }

  #close(stamp_ns: number, failure: TransportFailure | null): void {
    const { endpoint } = this.context;
    const json = failure === null ? this.#json() : undefined;
    const { meaning, text } = this.#read(json);
    const hasContent = meaning?.content ?? false;
    if (hasContent) this.firstContent?.();
    this.close(stamp_ns, failure, {
      events: json === undefined ? 0 : 1,
      malformedEvent:
        json === undefined || meaning !== null
          ? null
          : `the response is not of the ${endpoint.type} protocol: ${keysOf(json)}`,
      errorEvent: meaning?.error ?? null,
      finished: true,
      hasContent,
      whole: true,
      usage: meaning?.usage ?? null,
      text,
      offsets_ns: [],
      firstOutputChunk: null,
      wholeResponseOffset_ns: hasContent ? Math.round(this.lastByteAt_ns - this.sentAt_ns) : null,
    });
  }

  #read(json: unknown): { readonly meaning: EventMeaning | null; readonly text: ResponseText | null } {
    const { endpoint, keepText } = this.context;
    if (json === undefined) return { meaning: null, text: null };
    try {
      const meaning = endpoint.interpretWhole(json, this.several);
      for (const name of meaning?.unknownFields ?? []) this.found.add('unknownFields', name);
      return { meaning, text: keepText === true ? endpoint.text(json, this.several) : null };
    } catch (error) {
      this.fault(error);
      return { meaning: null, text: null };
    }
  }

  /** Undefined when the body is not JSON. */
  #json(): unknown {
    if (this.isEncoded) return undefined;
    try {
      return JSON.parse(Buffer.concat(this.#pieces).toString('utf8'));
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}

export interface WholeResponse {
  readonly status: number;
  readonly body: string;
}

const MAX_BYTES = 2 ** 20;

/** Thrown when there is no complete response. */
export class ExchangeError extends Error {
  readonly reason: ErrorReason;

  constructor(failure: TransportFailure) {
    super(failure.message);
    this.reason = failure.reason;
  }
}

/**
 * Sends one request and collects its response: for requests outside of a benchmark. Rejects with an `ExchangeError`.
 */
export function wholeResponse(
  transport: Transport,
  request: TransportRequest,
  timeoutSeconds: number,
): Promise<WholeResponse> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    let bytesRead = 0;
    let status = 0;
    const exchange = transport.send(request, {
      head: (code) => {
        status = code;
      },
      data: (_stamp, bytes, start, end) => {
        pieces.push(Uint8Array.prototype.slice.call(bytes, start, end));
        bytesRead += end - start;
        if (bytesRead > MAX_BYTES)
          exchange.abort({ reason: 'other', message: `the response exceeds the limit of ${MAX_BYTES} bytes` });
      },
      end: () => {
        clearTimeout(timer);
        resolve({ status, body: Buffer.concat(pieces).toString('utf8') });
      },
      failed: (_stamp, failure) => {
        clearTimeout(timer);
        reject(new ExchangeError(failure));
      },
    });
    const timer = setTimeout(() => {
      exchange.abort({ reason: 'request_timeout', message: `no response within ${timeoutSeconds} s` });
    }, timeoutSeconds * 1000);
  });
}
