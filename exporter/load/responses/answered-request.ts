import { responseFailure, isEncoded } from './response-failure.ts';
import type { ResponseFacts, ResponseFailure } from './response-failure.ts';
import { messageExcerpt } from '../../errors/message-excerpt.ts';
import type { ResponseContext, ResponseReader, ClosedRequest } from './response-reader.ts';
import type { ResponseText } from '../endpoints/endpoint.ts';
import { countedTokens, credibleUsage, requestRecord } from './request-record.ts';
import { FindingsTally } from './response-findings.ts';
import type { ReadResponse, SentRequest } from './request-record.ts';
import { longRetryAfter, retryAfterSeconds } from '../../http-client/backoff.ts';
import type { ConnectionFacts, Exchange, TransportFailure } from '../transports/transport.ts';

/** What was read of a body, when it has ended. */
interface ReadBody
  extends
    Pick<ResponseFacts, 'events' | 'malformedEvent' | 'errorEvent' | 'finished' | 'hasContent' | 'whole'>,
    Pick<ReadResponse, 'usage' | 'offsets_ns' | 'firstOutputChunk' | 'wholeResponseOffset_ns'> {
  /** Null unless text is kept. */
  readonly text: ResponseText | null;
}

/** A request whose response is being read, streamed or not: what its head contained, and its record at the end. */
export abstract class RespondedRequest implements ResponseReader {
  protected readonly request: SentRequest;
  protected readonly context: ResponseContext;
  protected readonly firstContent: (() => void) | undefined;
  protected readonly bodyStart = new BodyStart();
  protected readonly found = new FindingsTally();
  /** CLOCK_MONOTONIC of the request, and of the last byte of its response (of the request until a byte arrives). */
  readonly sentAt_ns: number;
  lastByteAt_ns: number;
  readonly #closed: (closed: ClosedRequest) => void;
  #exchange: Exchange | null = null;
  #status: number | null = null;
  #contentType = '';
  #contentEncoding = '';
  #location = '';
  #retryAfter: number | null = null;
  #longRetryAfter: string | null = null;
  #connection: ConnectionFacts | null = null;
  #fault: ResponseFailure | null = null;

  /** `firstContent` is called when the first content is known. */
  constructor(
    request: SentRequest,
    context: ResponseContext,
    closed: (closed: ClosedRequest) => void,
    firstContent?: () => void,
  ) {
    this.request = request;
    this.context = context;
    this.firstContent = firstContent;
    this.#closed = closed;
    this.sentAt_ns = context.epoch_ns + request.sent_ns;
    this.lastByteAt_ns = this.sentAt_ns;
  }

  /** Whether several choices were requested. */
  protected get several(): boolean {
    return (this.request.choices ?? 1) > 1;
  }

  attach(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  /** Aborts the request; its record closes with the given reason unless its response has already ended. */
  giveUp(failure: TransportFailure): void {
    this.#exchange?.abort(failure);
  }

  head(status: number, headers: Readonly<Record<string, string>>, connection: ConnectionFacts): void {
    this.#status = status;
    this.#connection = connection;
    this.#contentType = (headers['content-type'] ?? '').toLowerCase();
    this.#contentEncoding = (headers['content-encoding'] ?? '').toLowerCase();
    this.#location = headers['location'] ?? '';
    if (status === 429 || status === 503) {
      const now = new Date();
      this.#retryAfter = retryAfterSeconds(headers['retry-after'], now);
      this.#longRetryAfter = longRetryAfter(headers['retry-after'], now);
    }
  }

  abstract data(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void;

  end(stamp_ns: number): void {
    this.finish(stamp_ns, null);
  }

  failed(stamp_ns: number, failure: TransportFailure, connection: ConnectionFacts): void {
    this.#connection = connection;
    this.finish(stamp_ns, failure);
  }

  /** Only streams have a first token. */
  get awaitsFirstToken(): boolean {
    return false;
  }

  /** No more of the response arrives: calls `close` after everything received has been processed. */
  protected abstract finish(stamp_ns: number, failure: TransportFailure | null): void;

  protected get isEncoded(): boolean {
    return isEncoded(this.#contentEncoding);
  }

  /** Notes an error of this program in reading this response: it fails this request, and the others continue. */
  protected fault(error: unknown): void {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const line = `llmbench failed to read the response, please report it: ${message}`;
    this.#fault ??= { reason: 'other', message: messageExcerpt(line, this.context.secrets) };
  }

  protected close(stamp_ns: number, transportFailure: TransportFailure | null, read: ReadBody): void {
    // The chunks of one choice say nothing about the tokens of several.
    const offsets_ns = this.several ? [] : read.offsets_ns;
    const { usage, contradiction } = credibleUsage(read.usage, offsets_ns);
    const body = { ...read, usage };
    const counted_output_tokens = this.#countedTokens(body);
    const found = responseFailure(
      {
        ...body,
        transportFailure,
        status: this.#status,
        contentType: this.#contentType,
        contentEncoding: this.#contentEncoding,
        location: this.#location,
        bodyStart: this.bodyStart.text,
      },
      this.context.secrets,
    );
    // What is missing because of it is not the server's fault.
    const failure = transportFailure === null ? (this.#fault ?? found) : found;
    if (contradiction !== null && failure === null) this.found.add('impossibleUsage', contradiction);
    this.#closed({
      record: requestRecord(this.request, {
        ...body,
        end_ns: Math.round(stamp_ns - this.context.epoch_ns),
        reason: failure?.reason ?? null,
        status: this.#status,
        connection: this.#connection,
        counted_output_tokens,
      }),
      message: failure === null ? null : [failure.message, this.#longRetryAfter].filter(Boolean).join('; '),
      contentType: this.#contentType,
      retryAfterSeconds: this.#retryAfter,
      connectionRetried: this.#connection?.retried ?? false,
      text: body.text,
      findings: this.found.findings,
    });
  }

  #countedTokens({ text, usage }: ReadBody): ReturnType<typeof countedTokens> {
    try {
      return countedTokens(this.context, text, usage);
    } catch (error) {
      this.fault(error);
      return null;
    }
  }
}

const BODY_START_BYTES = 4096;
const utf8 = new TextDecoder();

/** The beginning of a body that may be an error message instead of a stream. */
class BodyStart {
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  /** Adds bytes[start, end). */
  add(bytes: Uint8Array, start: number, end: number): void {
    const room = BODY_START_BYTES - this.#bytes;
    if (room <= 0) return;
    const kept = new Uint8Array(bytes.subarray(start, Math.min(end, start + room)));
    this.#pieces.push(kept);
    this.#bytes += kept.length;
  }

  drop(): void {
    if (this.#bytes === 0) return;
    this.#pieces = [];
    this.#bytes = 0;
  }

  get text(): string {
    if (this.#bytes === 0) return '';
    const whole = new Uint8Array(this.#bytes);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return utf8.decode(whole);
  }
}
