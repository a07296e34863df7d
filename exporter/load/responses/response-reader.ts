import type { MeasuredRecord } from '../../../core/run/record.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import type { ResponseText, Endpoint } from '../endpoints/endpoint.ts';
import type { RequestForm } from '../requests/request-feed.ts';
import type { Exchange, ResponseHandler } from '../transports/transport.ts';
import type { ContentRecognizer } from './content-recognizer.ts';
import type { TimedRequest } from './deadlines.ts';
import type { ResponseFindings } from './response-findings.ts';

/** Deferred work: an event to parse, or the end of a response. */
export interface QueuedEvent {
  readonly bytes: number;
  process(): void;
}

const MAX_EVENTS = 8192;
const MAX_BYTES = 64 * 2 ** 20;
const BATCH = 512;

/**
 * Defers work until the event loop has read all available data, so that no arrival waits behind a parser. Keeps the
 * order. The queue is bounded: when it is full, the oldest entry is processed immediately.
 */
export class EventQueue {
  #events: (QueuedEvent | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #scheduled = false;

  push(event: QueuedEvent): void {
    while (this.length >= MAX_EVENTS || (this.#bytes > MAX_BYTES && this.length > 0)) this.#processOldest();
    this.#events.push(event);
    this.#bytes += event.bytes;
    this.#schedule();
  }

  get length(): number {
    return this.#events.length - this.#first;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#drain);
  }

  readonly #drain = (): void => {
    this.#scheduled = false;
    for (let n = Math.min(this.length, BATCH); n > 0; n--) this.#processOldest();
    if (this.length > 0) this.#schedule();
  };

  #processOldest(): void {
    const event = this.#events[this.#first];
    this.#events[this.#first++] = undefined;
    if (this.#first === this.#events.length || this.#first >= MAX_EVENTS) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
    if (event === undefined) return;
    this.#bytes -= event.bytes;
    event.process();
  }
}

/** What all readers of a run share. */
export interface ResponseContext {
  readonly endpoint: Endpoint;
  readonly recognizer: ContentRecognizer;
  readonly queue: EventQueue;
  /** Gets what is hot of the events. */
  readonly listener: Pick<Required<RunEvents>, 'firstContent' | 'chunkGap'>;
  /** CLOCK_MONOTONIC at the start of the run. */
  readonly epoch_ns: number;
  readonly secrets: readonly string[];
  /** Whether responses are streamed; absent: yes. */
  readonly stream?: boolean;
  /** Keeps the text of each response until its record closes: for conversations, and for counting tokens. */
  readonly keepText?: boolean;
  /** Counts the output tokens of a response when the server reports no count; requires `keepText`. */
  readonly countTokens?: (text: string) => number;
  /** Counts the output tokens of every response, to compare them with the server's count; absent: no. */
  readonly checkUsage?: boolean;
}

export interface ClosedRequest {
  readonly record: MeasuredRecord;
  /** One line about a failure, for a log; it may contain the server's text and is not part of the record. */
  readonly message: string | null;
  /** In lower case; empty without a response or header. */
  readonly contentType: string;
  readonly retryAfterSeconds: number | null;
  readonly connectionRetried: boolean;
  /** What the model wrote; null unless text is kept. Never part of the record. */
  readonly text: ResponseText | null;
  /** Null: nothing that a user must know. */
  readonly findings: ResponseFindings | null;
}

/** Reads one response and closes its request's record at the end. */
export interface ResponseReader extends ResponseHandler, TimedRequest {
  /** The exchange that delivers this response, so that it can be aborted. */
  attach(exchange: Exchange): void;
}

/** How the responses to requests of a form are read. */
export function readingOf({
  options,
  countTokens,
  checkUsage = false,
  dataset,
}: RequestForm): Partial<ResponseContext> {
  return {
    stream: options.stream ?? true,
    keepText: countTokens !== undefined || dataset.conversation !== undefined,
    ...(countTokens === undefined ? {} : { countTokens, checkUsage }),
  };
}
