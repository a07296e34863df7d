import type { SearchAmounts } from '../../../core/run/capacity.ts';

/** What the check of one server before a run may take: the request is repeated if the server rejects an option. */
const CHECK_REQUESTS = 2;
const CHECK_TOKENS = 16;

/** What the next probe of a search may use; infinite without a limit. */
export interface ProbeAllowance {
  readonly requests: number;
  readonly outputTokens: number;
  readonly seconds: number;
}

/** Limits of a whole search. A request counts when it is sent, its output with its maximum until the server has counted. */
export class SearchBudget {
  readonly #limits: SearchAmounts<number | null>;
  readonly #servers: number;
  readonly #usedBefore: SearchAmounts;
  readonly #now_s: () => number;
  readonly #start_s: number;
  #requests = 0;
  #tokens = 0;

  /** `usedBefore`: by the part of the search that was interrupted; `now_s`: a monotonic clock. */
  constructor(
    limits: SearchAmounts<number | null>,
    servers: number,
    usedBefore: SearchAmounts = { requests: 0, seconds: 0, output_tokens: 0 },
    now_s: () => number = () => performance.now() / 1000,
  ) {
    this.#limits = limits;
    this.#servers = servers;
    this.#usedBefore = usedBefore;
    this.#now_s = now_s;
    this.#start_s = now_s();
  }

  /** What is left for the next probe, after the check of the servers. */
  get allowance(): ProbeAllowance {
    const { requests, seconds, output_tokens } = this.used;
    const left = (limit: number | null, used: number): number => (limit === null ? Infinity : limit - used);
    return {
      requests: left(this.#limits.requests, requests) - CHECK_REQUESTS * this.#servers,
      outputTokens: left(this.#limits.output_tokens, output_tokens) - CHECK_REQUESTS * CHECK_TOKENS * this.#servers,
      seconds: left(this.#limits.seconds, seconds),
    };
  }

  get used(): SearchAmounts {
    return {
      requests: this.#usedBefore.requests + this.#requests,
      seconds: this.#usedBefore.seconds + this.#now_s() - this.#start_s,
      output_tokens: this.#usedBefore.output_tokens + this.#tokens,
    };
  }

  /** A probe has ended: what it sent itself, besides the check of the servers. */
  spend(requests: number, outputTokens: number): void {
    this.#requests += requests + CHECK_REQUESTS * this.#servers;
    this.#tokens += outputTokens + CHECK_REQUESTS * CHECK_TOKENS * this.#servers;
  }
}
