import { RespondedRequest } from './answered-request.ts';
import { ResponseProgress, kindOf, type Arrival, KeptText } from './response-progress.ts';
import { BLANK, ignorableData, ignorableEvent, keysOf } from './response-findings.ts';
import { SseFramer } from './sse-framer.ts';
import type { SseSink } from './sse-framer.ts';
import { type EventMeaning, errorMessage } from '../endpoints/endpoint.ts';
import type { ConnectionFacts, TransportFailure } from '../transports/transport.ts';

const utf8Bytes = new TextEncoder();
const DONE = utf8Bytes.encode('[DONE]');
const utf8 = new TextDecoder();

/**
 * Reads one streamed response. The arrival of each content chunk is recorded as soon as its bytes are recognized; an
 * event of another shape is queued and parsed when the loop is idle, with its original arrival time. Events of a
 * request keep their order, and its record closes after the last of them has been processed.
 */
export class StreamReader extends RespondedRequest implements SseSink {
  readonly #framer: SseFramer;
  readonly #offsets: number[] = [];
  readonly #progress: ResponseProgress;
  readonly #text: KeptText | null;
  readonly #doneData: Uint8Array;
  /** Events are recognized by their bytes unless their text is kept or each may be of another choice. */
  readonly #recognizes: boolean;
  #queued = 0;
  #lastOffset = 0;
  #firstOutputChunk: number | null = null;
  #framing = false;
  #events = 0;
  #malformed: string | null = null;
  #error: string | null = null;
  #finishReason: string | null = null;
  #done = false;

  constructor(...given: ConstructorParameters<typeof RespondedRequest>) {
    super(...given);
    const { endpoint, keepText = false } = this.context;
    this.#framer = new SseFramer(this);
    this.#progress = new ResponseProgress(endpoint.addsUsage === true, this.request.requested_output_tokens);
    this.#text = keepText ? new KeptText(endpoint, this.several) : null;
    this.#recognizes = !keepText && !this.several;
    this.#doneData = endpoint.doneData === undefined ? DONE : utf8Bytes.encode(endpoint.doneData);
  }

  override head(status: number, headers: Readonly<Record<string, string>>, connection: ConnectionFacts): void {
    super.head(status, headers, connection);
    this.#framing = status < 300 && !this.isEncoded;
  }

  override get awaitsFirstToken(): boolean {
    return this.#offsets.length === 0;
  }

  data(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.lastByteAt_ns = stamp_ns;
    if (this.#framing) this.#framer.push(stamp_ns, bytes, start, end);
    if (this.#events === 0) this.bodyStart.add(bytes, start, end);
    else this.bodyStart.drop();
  }

  event(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.#events++;
    if (this.#done) return;
    if (this.#takeDone(bytes, start, end)) return;
    const known = this.#recognizes ? this.context.recognizer.recognize(bytes, start, end) : null;
    if (known !== null && this.#queued === 0) this.#content(stamp_ns, known);
    else if (known !== null) this.#queue(0, () => this.#content(stamp_ns, known));
    else this.#interpretLater(stamp_ns, bytes, start, end, true);
  }

  blank(): void {
    if (!this.#done) this.found.add('ignoredEvents', BLANK);
  }

  unterminated(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.#events++;
    if (!this.#takeDone(bytes, start, end)) this.#interpretLater(stamp_ns, bytes, start, end, false);
  }

  errorLine(_stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.#events++;
    const data = copyOf(bytes, start, end);
    this.#queue(data.length, () => {
      if (!this.#done) this.#error ??= errorOf(utf8.decode(data));
    });
  }

  tooLong(): void {
    this.#events++;
    this.#queue(0, () => {
      if (!this.#done) this.#malformed ??= 'an event is longer than the limit';
    });
  }

  override end(stamp_ns: number): void {
    this.#framer.end();
    super.end(stamp_ns);
  }

  /** Whether it is the event that ends the stream, which takes effect after all earlier events have been processed. */
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
    this.context.queue.push({
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
    const offset = Math.round(stamp_ns - this.sentAt_ns);
    const { phase, sent_ns, due_ns } = this.request;
    if (this.#offsets.length === 0) this.context.listener.firstContent(phase, offset, offset + sent_ns - due_ns);
    else this.context.listener.chunkGap(phase, offset - this.#lastOffset);
    this.#lastOffset = offset;
    if (kind === 'output') this.#firstOutputChunk ??= this.#offsets.length;
    this.#offsets.push(offset);
    if (this.#offsets.length === 1) this.firstContent?.();
  }

  #interpret(stamp_ns: number, bytes: Uint8Array, terminated: boolean): void {
    if (this.#done) return;
    const text = utf8.decode(bytes);
    const event = parsed(text);
    if (event === undefined) {
      const ignored = ignorableData(text);
      if (ignored !== null) this.found.add('ignoredEvents', ignored);
      // A truncated last event has no meaning; the missing finish reason is what fails the request.
      else if (terminated) this.#malformed ??= 'an event is not JSON';
      return;
    }
    const meaning = this.#meaning(event);
    if (meaning === undefined) return;
    if (meaning === null) {
      const ignored = ignorableEvent(event);
      if (ignored !== null) this.found.add('ignoredEvents', ignored);
      else this.#malformed ??= `an event is not of the ${this.context.endpoint.type} protocol: ${keysOf(event)}`;
      return;
    }
    const arrived = this.#progress.take(meaning);
    if (arrived !== null) this.#content(stamp_ns, arrived);
    this.#text?.take(event, meaning.progress !== undefined);
    this.#error ??= meaning.error;
    this.#finishReason = meaning.finishReason ?? this.#finishReason;
    const plain = meaning.finishReason === null && meaning.usage === null && meaning.error === null;
    if (meaning.content && plain && meaning.progress === undefined) this.#learn(bytes, meaning);
    for (const name of meaning.unknownFields ?? []) this.found.add('unknownFields', name);
  }

  #learn(bytes: Uint8Array, meaning: EventMeaning): void {
    if (this.#recognizes) this.context.recognizer.learn(bytes, 0, bytes.length, kindOf(meaning), meaning.textKeys);
  }

  /** Undefined after an error of this program. Only the interpretation is guarded: what content sets off is not its part. */
  #meaning(event: unknown): EventMeaning | null | undefined {
    try {
      return this.context.endpoint.interpret(event, this.several);
    } catch (error) {
      this.fault(error);
      return undefined;
    }
  }

  protected override finish(stamp_ns: number, failure: TransportFailure | null): void {
    if (this.#queued === 0) this.#close(stamp_ns, failure);
    else this.#queue(0, () => this.#close(stamp_ns, failure));
  }

  #close(stamp_ns: number, failure: TransportFailure | null): void {
    this.close(stamp_ns, failure, {
      events: this.#events,
      malformedEvent: this.#malformed,
      errorEvent: this.#error,
      finished: this.#isFinished(),
      hasContent: this.#offsets.length > 0,
      usage: this.#progress.usage,
      text: this.#text?.text ?? null,
      offsets_ns: this.#offsets,
      firstOutputChunk: this.#firstOutputChunk,
      wholeResponseOffset_ns: null,
    });
  }

  #isFinished(): boolean {
    const { wholeBy } = this.context.endpoint;
    if (this.#finishReason !== null || wholeBy === 'body') return true;
    return this.#done && (wholeBy === 'done' || this.#progress.usage !== null);
  }
}

/** Undefined for what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function errorOf(text: string): string {
  const error = parsed(text) ?? text.trim();
  return errorMessage({ error }) ?? text;
}

/** Whether bytes[start, end) equals the expected bytes. */
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
