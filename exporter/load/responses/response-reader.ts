import type { MeasuredRecord } from '../../../core/run/record.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import type { ResponseText, Endpoint } from '../endpoints/endpoint.ts';
import type { RequestForm } from '../requests/request-feed.ts';
import type { Exchange, ResponseHandler, TransportFailure } from '../transports/transport.ts';
import type { ContentRecognizer } from './content-recognizer.ts';
import type { ResponseFindings } from './response-findings.ts';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';
import { Roster } from '../transports/roster.ts';

/** Deferred work: an event to parse, or the end of a response. */
interface QueuedEvent {
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

export interface TimeLimits {
  /** From the request to the end of its response. */
  readonly requestTimeoutSeconds: number;
  /** From the request to the first chunk with content of a stream; 0: no limit. */
  readonly firstTokenTimeoutSeconds: number;
  /** Without a further byte of a response that has begun; 0: no limit. */
  readonly idleTimeoutSeconds: number;
}

/** AIPerf's `--request-timeout-seconds`. */
export const DEFAULT_REQUEST_TIMEOUT_SECONDS = 21_600;
/** Longer than a request waits in the queue of an overloaded server that still makes progress. */
export const DEFAULT_FIRST_TOKEN_TIMEOUT_SECONDS = 600;
/** Longer than a preempted request is interrupted. */
export const DEFAULT_IDLE_TIMEOUT_SECONDS = 300;

interface TimedRequest {
  readonly sentAt_ns: number;
  /** Equals `sentAt_ns` until the first byte. */
  readonly lastByteAt_ns: number;
  /** A stream whose first chunk with content has not been recognized. */
  readonly awaitsFirstToken: boolean;
  /** A second call has no effect. */
  giveUp(failure: TransportFailure): void;
}

const FINEST_MS = 5;
const COARSEST_MS = 250;

/** Aborts requests that take too long. One timer checks all of them, so a chunk costs nothing. */
export class Deadlines {
  readonly #limits: TimeLimits;
  readonly #requests = new Roster<TimedRequest>();
  readonly #timer: NodeJS.Timeout;
  readonly #period_ms: number;
  #lastCheck_ns = monotonicNow_ns();
  #putOff = false;

  constructor(limits: TimeLimits) {
    this.#limits = limits;
    const { requestTimeoutSeconds, firstTokenTimeoutSeconds, idleTimeoutSeconds } = limits;
    const shortest = Math.min(
      ...[requestTimeoutSeconds, firstTokenTimeoutSeconds, idleTimeoutSeconds].filter((limit) => limit > 0),
    );
    this.#period_ms = Math.min(Math.max(shortest * 50, FINEST_MS), COARSEST_MS);
    this.#timer = setInterval(() => this.#check(), this.#period_ms);
    this.#timer.unref();
  }

  /** Returns the index that `unwatch` requires. */
  watch(request: TimedRequest): number {
    return this.#requests.add(request);
  }

  unwatch(request: TimedRequest, place: number): void {
    this.#requests.remove(request, place);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const now_ns = monotonicNow_ns();
    const sinceLast_ns = now_ns - this.#lastCheck_ns;
    this.#lastCheck_ns = now_ns;
    // After the loop was blocked, bytes that arrived meanwhile are still unread: decide at the next check.
    this.#putOff = !this.#putOff && sinceLast_ns > 3e6 * this.#period_ms;
    if (this.#putOff) return;
    this.#requests.forEach((request) => {
      const failure = this.#exceeded(request, now_ns);
      if (failure !== null) request.giveUp(failure);
    });
  }

  #exceeded({ sentAt_ns, lastByteAt_ns, awaitsFirstToken }: TimedRequest, now_ns: number): TransportFailure | null {
    const { requestTimeoutSeconds, firstTokenTimeoutSeconds, idleTimeoutSeconds } = this.#limits;
    const isOver = (since_ns: number, limitSeconds: number): boolean =>
      limitSeconds > 0 && now_ns - since_ns > limitSeconds * 1e9;
    if (isOver(sentAt_ns, requestTimeoutSeconds)) {
      return { reason: 'request_timeout', message: `the response did not end within ${requestTimeoutSeconds} s` };
    }
    if (awaitsFirstToken && isOver(sentAt_ns, firstTokenTimeoutSeconds)) {
      return { reason: 'first_token_timeout', message: `no content within ${firstTokenTimeoutSeconds} s` };
    }
    if (lastByteAt_ns > sentAt_ns && isOver(lastByteAt_ns, idleTimeoutSeconds)) {
      return { reason: 'idle_timeout', message: `no byte of the response for ${idleTimeoutSeconds} s` };
    }
    return null;
  }
}
