import { messageExcerpt } from '../../errors/message-excerpt.ts';
import type { ResponseContext, ResponseReader, ClosedRequest } from './response-reader.ts';
import { type ResponseText, isObject, errorMessage } from '../endpoints/endpoint.ts';
import { countedTokens, credibleUsage, requestRecord, type ReadResponse, type SentRequest } from './request-record.ts';
import { FindingsTally } from './response-findings.ts';
import { longRetryAfter, retryAfterSeconds } from '../../http-client/backoff.ts';
import type { ConnectionFacts, Exchange, TransportFailure } from '../transports/transport.ts';
import { ERROR_REASONS, type ErrorReason } from '../../../core/run/record.ts';

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

/** What is known of a response after it has ended or failed. */
interface ResponseFacts {
  /** Null when the body was read to its end. */
  readonly transportFailure: TransportFailure | null;
  readonly status: number | null;
  readonly contentType: string;
  readonly contentEncoding: string;
  /** Where a redirect leads; empty or absent without the header. */
  readonly location?: string;
  /** The beginning of a body that is not a stream. */
  readonly bodyStart: string;
  readonly events: number;
  readonly malformedEvent: string | null;
  readonly errorEvent: string | null;
  readonly finished: boolean;
  readonly hasContent: boolean;
  /** True when one JSON response was requested, which is then the only event; absent: a stream. */
  readonly whole?: boolean;
}

interface ResponseFailure {
  readonly reason: ErrorReason;
  /** One line for a log: what was wrong, with the server's own message if there is one. Never part of a record. */
  readonly message: string;
}

/**
 * Why a request is not ok, by the rules of `ERROR_REASON_RULES` in their order; null when it is ok. The events decide
 * whether a body is a stream, not its content type, which some gateways set wrongly.
 */
function responseFailure(facts: ResponseFacts, secrets: readonly string[]): ResponseFailure | null {
  let first: ResponseFailure | null = null;
  for (const failure of failures(facts)) {
    if (first === null || ERROR_REASONS.indexOf(failure.reason) < ERROR_REASONS.indexOf(first.reason)) first = failure;
  }
  return first === null ? null : { reason: first.reason, message: messageExcerpt(first.message, secrets) };
}

/** All failures that apply. */
function failures(facts: ResponseFacts): readonly ResponseFailure[] {
  const found: ResponseFailure[] = [];
  if (facts.transportFailure !== null) found.push(facts.transportFailure);
  if (facts.status === null) return found;
  if (facts.status >= 300) {
    found.push({ reason: statusReason(facts.status), message: `HTTP ${facts.status}${hint(facts)}` });
    return found;
  }
  if (isEncoded(facts.contentEncoding)) {
    found.push({ reason: 'compression', message: `HTTP ${facts.status}${hint(facts)}` });
    return found;
  }
  const read = facts.transportFailure === null;
  if (read && !isStream(facts)) found.push({ reason: 'not_a_stream', message: `HTTP ${facts.status}${hint(facts)}` });
  if (facts.malformedEvent !== null) found.push({ reason: 'malformed_event', message: facts.malformedEvent });
  if (facts.errorEvent !== null) found.push({ reason: 'error_event', message: facts.errorEvent });
  if (read && !facts.finished)
    found.push({
      reason: 'no_finish',
      message: 'the stream ended without a finish reason, and without usage and [DONE]',
    });
  if (read && !facts.hasContent)
    found.push({
      reason: 'no_content',
      message: facts.whole === true ? 'the response has no content' : 'the stream ended without content',
    });
  return found;
}

function statusReason(status: number): ErrorReason {
  if (status === 429) return 'http_429';
  if (status >= 500) return 'http_5xx';
  return status >= 400 ? 'http_4xx' : 'redirect';
}

/** Whether a body is compressed although identity was requested. */
export function isEncoded(contentEncoding: string): boolean {
  return contentEncoding !== '' && contentEncoding !== 'identity';
}

/** A body without any event is still a stream when its content type reports it and it contains only comments. */
function isStream(facts: ResponseFacts): boolean {
  if (facts.events > 0) return true;
  return facts.contentType.startsWith('text/event-stream') && !/^[^:\s]/.test(facts.bodyStart.trimStart());
}

/** Without user info and query, which may contain secrets. */
function destination(location = ''): string {
  const shown = location.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');
  return shown === '' ? '' : ` (to ${shown})`;
}

function hint(facts: ResponseFacts): string {
  if (facts.status !== null && facts.status >= 300 && facts.status < 400)
    return `: redirects are not followed${destination(facts.location)}`;
  if (isEncoded(facts.contentEncoding)) {
    return `: content-encoding ${facts.contentEncoding} although identity was requested`;
  }
  const said = serverMessage(facts.bodyStart);
  if (said !== '') return `: ${said}`;
  return facts.contentType === '' ? '' : `: ${facts.contentType}`;
}

/** The message in an error body, or the text of an HTML page without its tags. */
export function serverMessage(body: string): string {
  try {
    const response: unknown = JSON.parse(body);
    if (isObject(response)) return errorMessage(response) ?? body;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return body
    .replace(/<(style|script)[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .trim();
}
