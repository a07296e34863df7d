import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { ServerResponse } from 'node:http';
import type { RequestProgress, FinishedEvent, TokenEvent } from '../engine/events.ts';
import type { StreamFate } from '../faults/plan.ts';
import type { Reply, MonotonicClock } from './engine-driver.ts';
import { ApiError, sendJson } from './json-body.ts';
import type { MediaTokens } from './media.ts';
import type { TruthRecord } from './truth-log.ts';

/** What all responses to one request have in common. */
export interface ResponseHead {
  readonly id: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly model: string;
  /** Tokens of images and audio in the prompt; absent: it has none. */
  readonly mediaTokens?: MediaTokens;
}

/** The server-sent events of one stream, as one server writes them. */
export interface StreamTexts {
  /** What comes as soon as the request is taken, long before the first token. Default: nothing. */
  readonly announcement?: string;
  /** What comes right before the first token. */
  readonly opening: string;
  /** @param text letters and blanks, which JSON takes as they are */
  token(text: string, request: RequestProgress): string;
  lastToken(text: string, request: RequestProgress): string;
  usage(request: RequestProgress): string;
  /** What ends the stream. */
  readonly done: string;
  /** What ends a stream whose engine is gone. Default: nothing, the connection breaks. */
  readonly failed?: string;
}

/** How one server words its responses to chat completion requests. */
export interface ResponseDialect {
  stream(head: ResponseHead, includeUsage: boolean): StreamTexts;
  /** The JSON of a response to a request without `stream`. */
  whole(head: ResponseHead, content: string, request: RequestProgress): string;
  /** The JSON of a refusal. Default: an object `error` with message, type, param and code. */
  error?(error: ApiError): string;
}

interface StreamReplyOptions {
  readonly response: Writable;
  readonly texts: StreamTexts;
  readonly includeUsage: boolean;
  readonly nextWord: () => string;
  readonly clock: MonotonicClock;
  readonly truth: TruthRecord;
  readonly ended: () => void;
  /** Default: nothing happens to it. */
  readonly fate?: StreamFate;
}

/** Sends tokens as server-sent events, one per token. While the client does not read, they wait and go out together. */
export class StreamReply implements Reply {
  readonly #options: StreamReplyOptions;
  #pending = '';
  #complete = false;
  #tokens = 0;
  #blocked = false;

  constructor(options: StreamReplyOptions) {
    this.#options = options;
  }

  token({ request, index, time_ns }: TokenEvent): void {
    const { texts, nextWord, truth, fate } = this.#options;
    if (this.#isCut()) return;
    truth.addDue(time_ns);
    if (index === 0) this.#pending += texts.opening;
    const word = nextWord();
    const event = index === request.outputTokens - 1 ? texts.lastToken(word, request) : texts.token(word, request);
    this.#pending += index === fate?.malformedAfterTokens ? cutShort(event) : event;
    this.#tokens = index + 1;
  }

  finished({ request }: FinishedEvent): void {
    const { texts, includeUsage, truth } = this.#options;
    truth.outcome = 'finished';
    if (includeUsage) this.#pending += texts.usage(request);
    this.#pending += texts.done;
    this.#complete = true;
  }

  failed(): void {
    const { texts, truth, response } = this.#options;
    truth.outcome = 'aborted';
    if (texts.failed === undefined) {
      reset(response);
      return;
    }
    this.#pending += texts.failed;
    this.#complete = true;
    this.flush();
  }

  flush(): void {
    if (this.#blocked || this.#options.response.destroyed) return;
    const { response, clock, truth, ended } = this.#options;
    // Stamped before the bytes leave: no client can have read them earlier.
    truth.allWritten(clock.now_ns());
    if (this.#isCut()) {
      // The tokens so far must arrive, and nothing after them.
      response.write(this.#pending, () => reset(response));
      this.#blocked = true;
    } else if (this.#complete) {
      response.end(this.#pending);
      ended();
    } else if (!response.write(this.#pending)) {
      this.#blocked = true;
      response.once('drain', () => {
        this.#blocked = false;
        if (this.#pending !== '') this.flush();
      });
    }
    this.#pending = '';
  }

  /** Whether the stream has all the tokens that its connection lives for. */
  #isCut(): boolean {
    const tokens = this.#options.fate?.resetAfterTokens ?? null;
    return tokens !== null && this.#tokens >= tokens;
  }
}

/** An event whose JSON ends in the middle. */
function cutShort(event: string): string {
  return `${event.slice(0, Math.floor(event.length / 2))}\n\n`;
}

/** Ends the connection as a crashed server does: with a reset where there is a socket. */
function reset(response: Writable & { readonly socket?: unknown }): void {
  if (response.socket instanceof Socket) response.socket.resetAndDestroy();
  else response.destroy();
}

interface WholeReplyOptions {
  readonly response: ServerResponse;
  /** The JSON of the response. */
  readonly answer: (content: string, request: RequestProgress) => string;
  readonly nextWord: () => string;
  readonly clock: MonotonicClock;
  readonly truth: TruthRecord;
  readonly ended: () => void;
}

/** Collects the tokens and sends one JSON response when the request has finished. */
export class WholeReply implements Reply {
  readonly #options: WholeReplyOptions;
  #content = '';
  #finished: FinishedEvent | null = null;

  constructor(options: WholeReplyOptions) {
    this.#options = options;
  }

  token({ request, index, time_ns }: TokenEvent): void {
    this.#options.truth.addDue(time_ns);
    const isStopMark = request.finishReason === 'stop' && index === request.outputTokens - 1;
    if (!isStopMark) this.#content += this.#options.nextWord();
  }

  finished(event: FinishedEvent): void {
    this.#options.truth.outcome = 'finished';
    this.#finished = event;
  }

  failed(): void {
    const { response, truth, ended } = this.#options;
    truth.outcome = 'aborted';
    if (response.destroyed) return;
    sendJson(response, 500, new ApiError(500, 'InternalServerError', 'Internal server error').body());
    ended();
  }

  flush(): void {
    const { response, answer, clock, truth, ended } = this.#options;
    if (this.#finished === null || response.destroyed) return;
    truth.allWritten(clock.now_ns());
    sendJson(response, 200, answer(this.#content, this.#finished.request));
    ended();
  }
}
