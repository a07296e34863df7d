/** Consecutive failures that open a breaker, successes that close it again, and how long it stays open. */
const FAILURES_TO_OPEN = 10;
const SUCCESSES_TO_CLOSE = 3;
const OPEN_SECONDS = 60;
/** Failed and good health checks in a row that turn a worker's health. */
const CHECKS_TO_FAIL = 3;
const CHECKS_TO_RECOVER = 2;

export type BreakerState = 'closed' | 'open' | 'half_open';

/** A change of a breaker, to be counted. */
export interface BreakerTransition {
  readonly from: BreakerState;
  readonly to: BreakerState;
}

/** What the gateway knows of one worker: its circuit breaker, its health, and what it is doing. */
export class Worker {
  readonly url: string;
  active = 0;
  consecutiveFailures = 0;
  consecutiveSuccesses = 0;
  state: BreakerState = 'closed';
  isHealthy = true;
  #openedAt_s = 0;
  #failedChecks = 0;
  #goodChecks = 0;

  constructor(url: string) {
    this.url = url;
  }

  /** Whether requests may go there now. An open breaker becomes half open when its time is over. */
  isAvailable(now_s: number): boolean {
    return this.isHealthy && (this.state !== 'open' || now_s - this.#openedAt_s >= OPEN_SECONDS);
  }

  /** To be called when a request is sent: the first after the breaker's time makes it half open. */
  dispatched(now_s: number): BreakerTransition | null {
    return this.state === 'open' && now_s - this.#openedAt_s >= OPEN_SECONDS ? this.#turn('half_open') : null;
  }

  succeeded(): BreakerTransition | null {
    this.consecutiveFailures = 0;
    this.consecutiveSuccesses++;
    return this.state === 'half_open' && this.consecutiveSuccesses >= SUCCESSES_TO_CLOSE ? this.#turn('closed') : null;
  }

  failed(now_s: number): BreakerTransition | null {
    this.consecutiveSuccesses = 0;
    this.consecutiveFailures++;
    const opens =
      this.state === 'half_open' || (this.state === 'closed' && this.consecutiveFailures >= FAILURES_TO_OPEN);
    if (opens) this.#openedAt_s = now_s;
    return opens ? this.#turn('open') : null;
  }

  checked(isGood: boolean): void {
    this.#goodChecks = isGood ? this.#goodChecks + 1 : 0;
    this.#failedChecks = isGood ? 0 : this.#failedChecks + 1;
    if (this.#failedChecks >= CHECKS_TO_FAIL) this.isHealthy = false;
    if (this.#goodChecks >= CHECKS_TO_RECOVER) this.isHealthy = true;
  }

  #turn(to: BreakerState): BreakerTransition {
    const from = this.state;
    this.state = to;
    this.consecutiveSuccesses = 0;
    return { from, to };
  }
}
