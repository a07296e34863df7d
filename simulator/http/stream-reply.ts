import type { Writable } from 'node:stream';

import type { FinishedEvent, TokenEvent } from '../engine/events.ts';
import type { StreamTexts } from './answer-texts.ts';
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
}

/** Sends tokens as server-sent events, one per token. While the client does not read, they wait and go out together. */
export class StreamReply implements Reply {
  readonly #options: StreamReplyOptions;
  #pending = '';
  #complete = false;
  #blocked = false;

  constructor(options: StreamReplyOptions) {
    this.#options = options;
  }

  token({ request, index, time_ns }: TokenEvent): void {
    const { texts, nextWord, truth } = this.#options;
    truth.addDue(time_ns);
    if (index === 0) this.#pending += texts.opening;
    const word = nextWord();
    this.#pending += index === request.outputTokens - 1 ? texts.lastToken(word, request) : texts.token(word);
  }

  finished({ request }: FinishedEvent): void {
    const { texts, includeUsage, truth } = this.#options;
    truth.outcome = 'finished';
    if (includeUsage) this.#pending += texts.usage(request);
    this.#pending += texts.done;
    this.#complete = true;
  }

  flush(): void {
    if (this.#blocked || this.#options.response.destroyed) return;
    const { response, clock, truth, ended } = this.#options;
    // Stamped before the bytes leave: no client can have read them earlier.
    truth.allWritten(clock.now_ns());
    if (this.#complete) {
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
}
