import { answerFailure } from './answer-failure.ts';
import type { AnswerContext, AnswerReader, ClosedRequest } from './answer-reader.ts';
import { BodyStart } from './body-start.ts';
import type { AnswerText, EventMeaning } from './endpoints/endpoint.ts';
import { countedTokens, requestRecord } from './request-record.ts';
import type { CountedOutput } from './request-record.ts';
import type { SentRequest } from './request-record.ts';
import { retryAfterSeconds } from './retry-after.ts';
import type { ConnectionFacts, Exchange, TransportFailure } from './transport.ts';

/** A longer answer is not read to its end. */
const LONGEST_ANSWER_BYTES = 64 * 2 ** 20;

/**
 * Reads one answer that is not a stream. It has an end and no first token: its record holds when the last byte came as the
 * time of the last content, and null as that of the first.
 */
export class WholeReader implements AnswerReader {
  readonly #request: SentRequest;
  readonly #context: AnswerContext;
  readonly #closed: (closed: ClosedRequest) => void;
  readonly #firstContent: (() => void) | undefined;
  readonly #sent_ns: number;
  readonly #bodyStart = new BodyStart();
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;
  #exchange: Exchange | null = null;
  #lastByte_ns: number;
  #status: number | null = null;
  #contentType = '';
  #contentEncoding = '';
  #retryAfter: number | null = null;
  #connection: ConnectionFacts | null = null;

  /** `firstContent` is called when the answer has come, if there is content in it. */
  constructor(
    request: SentRequest,
    context: AnswerContext,
    closed: (closed: ClosedRequest) => void,
    firstContent?: () => void,
  ) {
    this.#request = request;
    this.#context = context;
    this.#closed = closed;
    this.#firstContent = firstContent;
    this.#sent_ns = context.epoch_ns + request.sent_ns;
    this.#lastByte_ns = this.#sent_ns;
  }

  attach(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  giveUp(failure: TransportFailure): void {
    this.#exchange?.abort(failure);
  }

  get sentAt_ns(): number {
    return this.#sent_ns;
  }

  get lastByteAt_ns(): number {
    return this.#lastByte_ns;
  }

  head(status: number, headers: Readonly<Record<string, string>>, connection: ConnectionFacts): void {
    this.#status = status;
    this.#connection = connection;
    this.#contentType = (headers['content-type'] ?? '').toLowerCase();
    this.#contentEncoding = (headers['content-encoding'] ?? '').toLowerCase();
    if (status === 429 || status === 503) this.#retryAfter = retryAfterSeconds(headers['retry-after'], new Date());
  }

  data(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.#lastByte_ns = stamp_ns;
    this.#bodyStart.add(bytes, start, end);
    this.#bytes += end - start;
    if (this.#bytes <= LONGEST_ANSWER_BYTES) this.#pieces.push(Uint8Array.prototype.slice.call(bytes, start, end));
    else this.giveUp({ reason: 'other', message: `an answer of more than ${LONGEST_ANSWER_BYTES} bytes` });
  }

  end(stamp_ns: number): void {
    this.#finish(stamp_ns, null);
  }

  failed(stamp_ns: number, failure: TransportFailure, connection: ConnectionFacts): void {
    this.#connection = connection;
    this.#finish(stamp_ns, failure);
  }

  #finish(stamp_ns: number, failure: TransportFailure | null): void {
    this.#context.queue.push({ bytes: this.#bytes, process: () => this.#close(stamp_ns, failure) });
  }

  #close(stamp_ns: number, transportFailure: TransportFailure | null): void {
    const json = transportFailure === null ? this.#json() : undefined;
    const meaning = json === undefined ? null : this.#context.endpoint.interpretWhole(json);
    const failure = answerFailure(
      {
        transportFailure,
        status: this.#status,
        contentType: this.#contentType,
        contentEncoding: this.#contentEncoding,
        bodyStart: this.#bodyStart.text,
        events: json === undefined ? 0 : 1,
        malformedEvent:
          json === undefined || meaning !== null
            ? null
            : `the answer is not of the ${this.#context.endpoint.type} protocol`,
        errorEvent: meaning?.error ?? null,
        finished: true,
        hasContent: meaning?.content ?? false,
        whole: true,
      },
      this.#context.secrets,
    );
    if (meaning?.content === true) this.#firstContent?.();
    const text = json === undefined || this.#context.keepText !== true ? null : this.#context.endpoint.text(json);
    this.#closed({
      record: requestRecord(this.#request, {
        ...this.#tokens(meaning, text),
        end_ns: Math.round(stamp_ns - this.#context.epoch_ns),
        reason: failure?.reason ?? null,
        status: this.#status,
        connection: this.#connection,
        offsets_ns: [],
        firstOutputOffset_ns: null,
        wholeAnswerOffset_ns: meaning?.content === true ? Math.round(this.#lastByte_ns - this.#sent_ns) : null,
      }),
      message: failure?.message ?? null,
      retryAfterSeconds: this.#retryAfter,
      connectionRetried: this.#connection?.retried ?? false,
      output: text?.output ?? null,
    });
  }

  #tokens(
    meaning: EventMeaning | null,
    text: AnswerText | null,
  ): { usage: EventMeaning['usage']; counted_output_tokens: CountedOutput | null } {
    const usage = meaning?.usage ?? null;
    return { usage, counted_output_tokens: countedTokens(this.#context, text, usage) };
  }

  /** Undefined when the body is no JSON. */
  #json(): unknown {
    if (this.#contentEncoding !== '' && this.#contentEncoding !== 'identity') return undefined;
    try {
      return JSON.parse(Buffer.concat(this.#pieces).toString('utf8'));
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}
