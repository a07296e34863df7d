import type { ServerResponse } from 'node:http';

import type { FinishedEvent, RequestProgress, TokenEvent } from '../engine/events.ts';
import { ApiError } from './api-error.ts';
import type { Reply } from './engine-driver.ts';
import { sendJson } from './json-response.ts';
import type { MonotonicClock } from './monotonic-clock.ts';
import type { TruthRecord } from './truth-log.ts';

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
