import type { RequestRecord } from '../../../core/run/record.ts';
import type { RunObserver } from '../../../core/run/run-observer.ts';

/** Counts what a probe sends, with its warm-up. */
export class ProbeTally implements RunObserver {
  #requests = 0;
  #tokens = 0;
  #longest = 1;

  get requests(): number {
    return this.#requests;
  }

  /** A request without a count has its maximum. */
  get outputTokens(): number {
    return this.#tokens;
  }

  /** The largest `max_tokens` of a request. */
  get longestOutputTokens(): number {
    return this.#longest;
  }

  requestSent(): void {
    this.#requests++;
  }

  requestEnded({ output_tokens, requested_output_tokens }: RequestRecord): void {
    this.#longest = Math.max(this.#longest, requested_output_tokens ?? 1);
    this.#tokens += output_tokens ?? requested_output_tokens ?? 0;
  }
}
