import type { RateLimit } from './web-config.ts';

/** Counts requests against a rate limit; full at the first request. */
export class TokenBucket {
  #tokens = Infinity;
  #at_ms = 0;

  /** Whether a request at this time is within the limit. */
  take({ interval_ms, burst }: RateLimit, now_ms: number): boolean {
    this.#tokens = Math.min(burst, this.#tokens + (now_ms - this.#at_ms) / interval_ms);
    this.#at_ms = now_ms;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
