import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Random } from '../../../core/stats/seeded-random.ts';
import type { FaultPlan } from '../../faults/plan.ts';
import { Agent, request } from '../../http/node-http.ts';
import type { Prompt } from '../../http/prompt.ts';

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

/** From this share of the prompt on the worker that knows it gets the request. */
const MATCH_THRESHOLD = 0.3;
/** The load is out of balance beyond both of these. */
const LOAD_DIFFERENCE = 64;
const LOAD_FACTOR = 1.5;
/** Blocks that the policy remembers of each worker. */
const REMEMBERED_BLOCKS = 200_000;

/** A worker, and how the policy came to it. */
export interface Choice {
  readonly worker: Worker;
  readonly branch: 'tree_match' | 'spill' | 'expected_wait_fallback';
  /** Matched over input length, of the best match. */
  readonly matchRatio: number;
}

/**
 * The cache-aware policy: a request goes to the worker that was sent the most of its beginning, unless that is little, or
 * that worker has far more to do than others; then to the least loaded.
 */
export class CacheAwarePolicy {
  readonly #known = new Map<Worker, Set<number>>();
  readonly #random: Random;
  readonly #hotWorker: FaultPlan['hotWorker'];

  constructor(random: Random, hotWorker: FaultPlan['hotWorker']) {
    this.#random = random;
    this.#hotWorker = hotWorker;
  }

  /** @param candidates in the order of the workers, at least one */
  choose({ blockHashes }: Prompt, candidates: readonly [Worker, ...Worker[]], all: readonly Worker[]): Choice {
    const matches = candidates.map((worker) => this.#matched(worker, blockHashes));
    const longest = Math.max(...matches);
    const matchRatio = blockHashes.length === 0 ? 0 : longest / blockHashes.length;
    const leastLoaded = this.#leastLoaded(candidates);
    const hot = this.#hot(candidates, all);
    const choice = hot !== null ? ({ worker: hot, branch: 'tree_match', matchRatio } as const) : null;
    const best = candidates[matches.indexOf(longest)] ?? leastLoaded;
    const isOverloaded =
      best.active - leastLoaded.active > LOAD_DIFFERENCE && best.active > leastLoaded.active * LOAD_FACTOR;
    const chosen: Choice =
      choice ??
      (matchRatio <= MATCH_THRESHOLD
        ? { worker: leastLoaded, branch: 'expected_wait_fallback', matchRatio }
        : isOverloaded
          ? { worker: leastLoaded, branch: 'spill', matchRatio }
          : { worker: best, branch: 'tree_match', matchRatio });
    this.#remember(chosen.worker, blockHashes);
    return chosen;
  }

  /** One of them by chance when several have as little to do. */
  #leastLoaded(candidates: readonly [Worker, ...Worker[]]): Worker {
    const least = Math.min(...candidates.map(({ active }) => active));
    const idlest = candidates.filter(({ active }) => active === least);
    return idlest[Math.floor(this.#random() * idlest.length)] ?? candidates[0];
  }

  #hot(candidates: readonly Worker[], all: readonly Worker[]): Worker | null {
    if (this.#hotWorker === null || this.#random() >= this.#hotWorker.share) return null;
    const worker = all[this.#hotWorker.worker];
    return worker !== undefined && candidates.includes(worker) ? worker : null;
  }

  #matched(worker: Worker, hashes: readonly number[]): number {
    const known = this.#known.get(worker);
    const end = hashes.findIndex((hash) => known?.has(hash) !== true);
    return end < 0 ? hashes.length : end;
  }

  #remember(worker: Worker, hashes: readonly number[]): void {
    const known = this.#known.get(worker) ?? new Set();
    this.#known.set(worker, known);
    for (const hash of hashes) {
      known.delete(hash);
      known.add(hash);
    }
    for (const oldest of known) {
      if (known.size <= REMEMBERED_BLOCKS) break;
      known.delete(oldest);
    }
  }
}

/** The connections to the workers. */
export class Upstream {
  readonly #agent = new Agent({ keepAlive: true });

  /**
   * Sends a request to a worker.
   *
   * @param started is given the request at once, so that it can be ended
   * @returns the head of the response
   * @throws Error when there is none
   */
  send(
    url: string,
    body: string | null,
    started: (sent: ClientRequest) => void = () => undefined,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers =
        body === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const sent = request(url, { agent: this.#agent, method: body === null ? 'GET' : 'POST', headers }, resolve);
      sent.once('error', reject);
      started(sent);
      sent.end(body ?? undefined);
    });
  }

  /** The body of a `GET` that is answered with 200. */
  async text(url: string): Promise<string> {
    const response = await this.send(url, null);
    const pieces: Buffer[] = [];
    for await (const piece of response as AsyncIterable<Buffer>) pieces.push(piece);
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`);
    return Buffer.concat(pieces).toString('utf8');
  }

  /** Whether a `GET` is answered with 200. */
  async answersOk(url: string): Promise<boolean> {
    try {
      await this.text(url);
      return true;
    } catch {
      // Refused, cut or not 200: the reason does not matter, a health check knows only good and bad.
      return false;
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}
