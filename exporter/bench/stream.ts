import { answerFailure } from './answer-failure.ts';
import { AnswerProgress, kindOf } from './answer-progress.ts';
import type { Arrival } from './answer-progress.ts';
import type { AnswerContext, AnswerReader, ClosedRequest } from './answer-reader.ts';
import { BodyStart } from './body-start.ts';
import { KeptText } from './kept-text.ts';
import { countedTokens, requestRecord } from './request-record.ts';
import type { SentRequest } from './request-record.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { SseFramer } from './sse-framer.ts';
import type { SseSink } from './sse-framer.ts';
import type { ConnectionFacts, Exchange, TransportFailure } from './transport.ts';

const utf8Bytes = new TextEncoder();
const DONE = utf8Bytes.encode('[DONE]');
const utf8 = new TextDecoder();

/**
 * Reads one streamed answer. The arrival of each content chunk is noted as soon as its bytes are recognised; what looks
 * unfamiliar is queued and parsed when the loop is idle, with the arrival time it had. Events of a request keep their
 * order, and its record closes when the last of them has been looked at.
 */
export class StreamReader implements AnswerReader, SseSink {
  readonly #request: SentRequest;
  readonly #context: AnswerContext;
  readonly #closed: (closed: ClosedRequest) => void;
  readonly #firstContent: (() => void) | undefined;
  readonly #sent_ns: number;
  readonly #framer: SseFramer;
  readonly #bodyStart = new BodyStart();
  readonly #offsets: number[] = [];
  readonly #progress: AnswerProgress;
  readonly #text: KeptText | null;
  readonly #doneData: Uint8Array;
  #exchange: Exchange | null = null;
  #lastByte_ns: number;
  #queued = 0;
  #lastOffset = 0;
  #firstOutputOffset: number | null = null;
  #status: number | null = null;
  #contentType = '';
  #contentEncoding = '';
  #retryAfter: number | null = null;
  #connection: ConnectionFacts | null = null;
  #framing = false;
  #events = 0;
  #malformed: string | null = null;
  #error: string | null = null;
  #finishReason: string | null = null;
  #done = false;

  /** `firstContent` is called when the first chunk with content has been recognised. */
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
    this.#framer = new SseFramer(this);
    this.#progress = new AnswerProgress(context.endpoint.addsUsage === true);
    this.#text = context.keepText === true ? new KeptText(context.endpoint) : null;
    this.#doneData = context.endpoint.doneData === undefined ? DONE : utf8Bytes.encode(context.endpoint.doneData);
  }

  attach(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  /** Gives the request up; its record closes with the reason given unless its answer has ended already. */
  giveUp(failure: TransportFailure): void {
    this.#exchange?.abort(failure);
  }

  /** CLOCK_MONOTONIC of the request, and of the last byte of its answer (of the request while there is none). */
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
    this.#framing = status < 300 && (this.#contentEncoding === '' || this.#contentEncoding === 'identity');
    if (status === 429 || status === 503) this.#retryAfter = retryAfterSeconds(headers['retry-after'], new Date());
  }

  data(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.#lastByte_ns = stamp_ns;
    if (this.#framing) this.#framer.push(stamp_ns, bytes, start, end);
    if (this.#events === 0) this.#bodyStart.add(bytes, start, end);
    else this.#bodyStart.drop();
  }

  event(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.#events++;
    if (this.#done) return;
    if (this.#takeDone(bytes, start, end)) return;
    const known = this.#text === null ? this.#context.recognizer.recognize(bytes, start, end) : null;
    if (known !== null && this.#queued === 0) this.#content(stamp_ns, known);
    else if (known !== null) this.#queue(0, () => this.#content(stamp_ns, known));
    else this.#interpretLater(stamp_ns, bytes, start, end, true);
  }

  unterminated(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.#events++;
    if (!this.#takeDone(bytes, start, end)) this.#interpretLater(stamp_ns, bytes, start, end, false);
  }

  tooLong(): void {
    this.#events++;
    this.#queue(0, () => {
      if (!this.#done) this.#malformed ??= 'an event is longer than the limit';
    });
  }

  end(stamp_ns: number): void {
    this.#framer.end();
    this.#finish(stamp_ns, null);
  }

  failed(stamp_ns: number, failure: TransportFailure, connection: ConnectionFacts): void {
    this.#connection = connection;
    this.#finish(stamp_ns, failure);
  }

  /** Whether it is the word that ends the stream, which takes effect when all before it has been looked at. */
  #takeDone(bytes: Uint8Array, start: number, end: number): boolean {
    if (!isSame(bytes, start, end, this.#doneData)) return false;
    if (this.#queued === 0) this.#done = true;
    else this.#queue(0, () => (this.#done = true));
    return true;
  }

  #interpretLater(stamp_ns: number, bytes: Uint8Array, start: number, end: number, terminated: boolean): void {
    const data = copyOf(bytes, start, end);
    this.#queue(data.length, () => this.#interpret(stamp_ns, data, terminated));
  }

  #queue(bytes: number, work: () => void): void {
    this.#queued++;
    this.#context.queue.push({
      bytes,
      process: () => {
        this.#queued--;
        work();
      },
    });
  }

  /** A chunk with content arrived. */
  #content(stamp_ns: number, kind: Arrival): void {
    if (this.#done) return;
    const offset = Math.round(stamp_ns - this.#sent_ns);
    const { phase, sent_ns, due_ns } = this.#request;
    if (this.#offsets.length === 0) this.#context.listener.firstContent(phase, offset, offset + sent_ns - due_ns);
    else this.#context.listener.chunkGap(phase, offset - this.#lastOffset);
    this.#lastOffset = offset;
    if (kind === 'output') this.#firstOutputOffset ??= offset;
    this.#offsets.push(offset);
    if (this.#offsets.length === 1) this.#firstContent?.();
  }

  #interpret(stamp_ns: number, bytes: Uint8Array, terminated: boolean): void {
    if (this.#done) return;
    let event: unknown;
    try {
      event = JSON.parse(utf8.decode(bytes));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      // A last event that was cut off tells nothing; the missing finish does.
      if (terminated) this.#malformed ??= 'an event is not JSON';
      return;
    }
    const meaning = this.#context.endpoint.interpret(event);
    if (meaning === null) {
      this.#malformed ??= `an event is not of the ${this.#context.endpoint.type} protocol`;
      return;
    }
    const arrived = this.#progress.take(meaning);
    if (arrived !== null) this.#content(stamp_ns, arrived);
    this.#text?.take(event, meaning.progress !== undefined);
    this.#error ??= meaning.error;
    this.#finishReason = meaning.finishReason ?? this.#finishReason;
    const plain = meaning.finishReason === null && meaning.usage === null && meaning.error === null;
    if (meaning.content && plain && meaning.progress === undefined)
      this.#context.recognizer.learn(bytes, 0, bytes.length, kindOf(meaning));
  }

  #finish(stamp_ns: number, failure: TransportFailure | null): void {
    if (this.#queued === 0) this.#close(stamp_ns, failure);
    else this.#queue(0, () => this.#close(stamp_ns, failure));
  }

  #close(stamp_ns: number, transportFailure: TransportFailure | null): void {
    const failure = answerFailure(
      {
        transportFailure,
        status: this.#status,
        contentType: this.#contentType,
        contentEncoding: this.#contentEncoding,
        bodyStart: this.#bodyStart.text,
        events: this.#events,
        malformedEvent: this.#malformed,
        errorEvent: this.#error,
        finished: this.#isFinished(),
        hasContent: this.#offsets.length > 0,
      },
      this.#context.secrets,
    );
    const { usage } = this.#progress;
    const { text } = this.#text ?? { text: null };
    this.#closed({
      record: requestRecord(this.#request, {
        end_ns: Math.round(stamp_ns - this.#context.epoch_ns),
        reason: failure?.reason ?? null,
        status: this.#status,
        connection: this.#connection,
        usage,
        counted_output_tokens: countedTokens(this.#context, text, usage),
        offsets_ns: this.#offsets,
        firstOutputOffset_ns: this.#firstOutputOffset,
        wholeAnswerOffset_ns: null,
      }),
      message: failure?.message ?? null,
      retryAfterSeconds: this.#retryAfter,
      connectionRetried: this.#connection?.retried ?? false,
      output: text?.output ?? null,
    });
  }

  #isFinished(): boolean {
    const { wholeBy } = this.#context.endpoint;
    if (this.#finishReason !== null || wholeBy === 'body') return true;
    return this.#done && (wholeBy === 'done' || this.#progress.usage !== null);
  }
}

/** Whether bytes[start, end) are the expected ones. */
function isSame(bytes: Uint8Array, start: number, end: number, expected: Uint8Array): boolean {
  if (end - start !== expected.length) return false;
  for (let i = 0; i < expected.length; i++) if (bytes[start + i] !== expected[i]) return false;
  return true;
}

function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const copy = Buffer.allocUnsafe(end - start);
  copy.set(bytes.subarray(start, end));
  return copy;
}
