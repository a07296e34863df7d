import { Socket } from 'node:net';
import type { Writable } from 'node:stream';

import type { FinishedEvent, TokenEvent } from '../engine/events.ts';
import type { StreamTexts } from './response-texts.ts';
import type { StreamFate } from '../faults/server-faults.ts';
import type { Reply } from './engine-driver.ts';
import type { MonotonicClock } from './monotonic-clock.ts';
import type { TruthRecord } from './truth-log.ts';

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
