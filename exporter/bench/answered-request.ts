import { answerFailure, isEncoded } from './answer-failure.ts';
import type { AnswerFacts } from './answer-failure.ts';
import type { AnswerContext, AnswerReader, ClosedRequest } from './answer-reader.ts';
import { BodyStart } from './body-start.ts';
import type { AnswerText } from './endpoints/endpoint.ts';
import { countedTokens, requestRecord } from './request-record.ts';
import type { ReadAnswer, SentRequest } from './request-record.ts';
import { retryAfterSeconds } from './retry-after.ts';
import type { ConnectionFacts, Exchange, TransportFailure } from './transport.ts';

/** What was read of a body, in the end. */
interface ReadBody
  extends
    Pick<AnswerFacts, 'events' | 'malformedEvent' | 'errorEvent' | 'finished' | 'hasContent' | 'whole'>,
    Pick<ReadAnswer, 'usage' | 'offsets_ns' | 'firstOutputOffset_ns' | 'wholeAnswerOffset_ns'> {
  /** Null unless text is kept. */
  readonly text: AnswerText | null;
}

/** A request whose answer is being read, whatever its body is: what its head says, and its record at the end. */
export abstract class AnsweredRequest implements AnswerReader {
  protected readonly request: SentRequest;
  protected readonly context: AnswerContext;
  protected readonly firstContent: (() => void) | undefined;
  protected readonly bodyStart = new BodyStart();
  /** CLOCK_MONOTONIC of the request, and of the last byte of its answer (of the request while there is none). */
  readonly sentAt_ns: number;
  lastByteAt_ns: number;
  readonly #closed: (closed: ClosedRequest) => void;
  #exchange: Exchange | null = null;
  #status: number | null = null;
  #contentType = '';
  #contentEncoding = '';
  #retryAfter: number | null = null;
  #connection: ConnectionFacts | null = null;

  /** `firstContent` is called when the first content is known. */
  constructor(
    request: SentRequest,
    context: AnswerContext,
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

  attach(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  /** Gives the request up; its record closes with the reason given unless its answer has ended already. */
  giveUp(failure: TransportFailure): void {
    this.#exchange?.abort(failure);
  }

  head(status: number, headers: Readonly<Record<string, string>>, connection: ConnectionFacts): void {
    this.#status = status;
    this.#connection = connection;
    this.#contentType = (headers['content-type'] ?? '').toLowerCase();
    this.#contentEncoding = (headers['content-encoding'] ?? '').toLowerCase();
    if (status === 429 || status === 503) this.#retryAfter = retryAfterSeconds(headers['retry-after'], new Date());
  }

  abstract data(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void;

  end(stamp_ns: number): void {
    this.finish(stamp_ns, null);
  }

  failed(stamp_ns: number, failure: TransportFailure, connection: ConnectionFacts): void {
    this.#connection = connection;
    this.finish(stamp_ns, failure);
  }

  /** No more of the answer comes: calls `close` when all that came has been looked at. */
  protected abstract finish(stamp_ns: number, failure: TransportFailure | null): void;

  protected get isEncoded(): boolean {
    return isEncoded(this.#contentEncoding);
  }

  protected close(stamp_ns: number, transportFailure: TransportFailure | null, body: ReadBody): void {
    const { text, usage } = body;
    const failure = answerFailure(
      {
        ...body,
        transportFailure,
        status: this.#status,
        contentType: this.#contentType,
        contentEncoding: this.#contentEncoding,
        bodyStart: this.bodyStart.text,
      },
      this.context.secrets,
    );
    this.#closed({
      record: requestRecord(this.request, {
        ...body,
        end_ns: Math.round(stamp_ns - this.context.epoch_ns),
        reason: failure?.reason ?? null,
        status: this.#status,
        connection: this.#connection,
        counted_output_tokens: countedTokens(this.context, text, usage),
      }),
      message: failure?.message ?? null,
      retryAfterSeconds: this.#retryAfter,
      connectionRetried: this.#connection?.retried ?? false,
      output: text?.output ?? null,
    });
  }
}
