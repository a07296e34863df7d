import { seededRandom, type Random } from '../../core/stats/seeded-random.ts';
import type { EngineRequest, EngineState, EngineEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { FaultPlan } from '../faults/plan.ts';
import type { Reply, RequestBackend, MonotonicClock } from '../http/engine-driver.ts';
import { ApiError } from '../http/json-body.ts';
import type { DynamoProfile } from './profile.ts';
import { CHAT_ROUTE, dispatchSeconds, drawDispatchTimes, type DynamoInstance } from './routed-request.ts';
import type { DynamoWorker } from './worker.ts';

/** What the router knows of a worker. */
class KnownWorker {
  /** Hashes that it was given to compute, the least recently used first. */
  readonly #hashes = new Set<number>();
  readonly #capacity: number;
  /** Blocks of the requests that it works on. */
  activeBlocks = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many blocks of the beginning of a prompt it is expected to have. */
  overlap(hashes: readonly number[]): number {
    const missing = hashes.findIndex((hash) => !this.#hashes.has(hash));
    return missing < 0 ? hashes.length : missing;
  }

  remember(hashes: readonly number[]): void {
    for (const hash of hashes) {
      this.#hashes.delete(hash);
      this.#hashes.add(hash);
    }
    for (const oldest of this.#hashes) {
      if (this.#hashes.size <= this.#capacity) break;
      this.#hashes.delete(oldest);
    }
  }
}

/** Where a request goes. */
export interface Choice {
  readonly worker: number;
  readonly overlapBlocks: number;
  /** Of the worker that is expected to have the most of it. */
  readonly mostOverlapBlocks: number;
  readonly promptBlocks: number;
}

interface KvRouterOptions {
  readonly blockSize: number;
  readonly numKvBlocks: number;
  readonly random: Random;
  readonly hotWorker: FaultPlan['hotWorker'];
}

/**
 * Sends a request to the worker that has least to do for it, as Dynamo's KV router with its default weight of 1: blocks
 * to prefill beyond what it is expected to have in its cache, and blocks of the requests that it works on already.
 */
export class KvRouter {
  readonly #options: KvRouterOptions;
  readonly #workers = new Map<number, KnownWorker>();
  readonly #active = new Map<string, { readonly worker: number; readonly blocks: number }>();

  constructor(options: KvRouterOptions) {
    this.#options = options;
  }

  add(worker: number): void {
    this.#workers.set(worker, new KnownWorker(this.#options.numKvBlocks));
  }

  remove(worker: number): void {
    this.#workers.delete(worker);
  }

  /** @returns null when there is no worker */
  choose(request: EngineRequest): Choice | null {
    const { blockSize } = this.#options;
    const hashes = request.promptBlockHashes ?? [];
    const promptBlocks = Math.ceil(request.promptTokens / blockSize);
    const worker = this.#hotWorker() ?? this.#cheapest(hashes, promptBlocks);
    const known = worker === null ? undefined : this.#workers.get(worker);
    if (worker === null || known === undefined) return null;
    const overlapBlocks = known.overlap(hashes);
    const mostOverlapBlocks = Math.max(...[...this.#workers.values()].map((each) => each.overlap(hashes)));
    const blocks = Math.ceil((request.promptTokens + request.outputTokens) / blockSize);
    known.remember(hashes);
    known.activeBlocks += blocks;
    this.#active.set(request.id, { worker, blocks });
    return { worker, overlapBlocks, mostOverlapBlocks, promptBlocks };
  }

  /** A request is over. */
  ended(id: string): void {
    const active = this.#active.get(id);
    if (active === undefined) return;
    this.#active.delete(id);
    const known = this.#workers.get(active.worker);
    if (known !== undefined) known.activeBlocks -= active.blocks;
  }

  #hotWorker(): number | null {
    const { hotWorker, random } = this.#options;
    if (hotWorker === null || !this.#workers.has(hotWorker.worker)) return null;
    return random() < hotWorker.share ? hotWorker.worker : null;
  }

  #cheapest(hashes: readonly number[], promptBlocks: number): number | null {
    let best: number[] = [];
    let least = Infinity;
    for (const [worker, known] of this.#workers) {
      const cost = promptBlocks - known.overlap(hashes) + known.activeBlocks;
      if (cost < least) best = [];
      if (cost <= least) best.push(worker);
      least = Math.min(least, cost);
    }
    return best[Math.floor(this.#options.random() * best.length)] ?? null;
  }
}

const NANOSECONDS_PER_SECOND = 1e9;

interface DynamoBackendOptions {
  readonly profile: DynamoProfile;
  readonly parameters: EngineParameters;
  readonly clock: MonotonicClock;
  readonly hotWorker: FaultPlan['hotWorker'];
}

interface Placed {
  readonly worker: DynamoWorker;
  readonly reply: Reply;
}

/** What is behind Dynamo's frontend: the router, and the workers that are there. */
export class DynamoBackend implements RequestBackend {
  readonly #profile: DynamoProfile;
  readonly #clock: MonotonicClock;
  readonly #parameters: EngineParameters;
  readonly #router: KvRouter;
  readonly #random: Random;
  readonly #workers = new Map<number, DynamoWorker>();
  readonly #placed = new Map<string, Placed>();

  constructor({ profile, parameters, clock, hotWorker }: DynamoBackendOptions) {
    this.#profile = profile;
    this.#clock = clock;
    this.#parameters = parameters;
    const { blockSize, numKvBlocks, seed } = parameters;
    this.#random = seededRandom(seed);
    this.#router = new KvRouter({ blockSize, numKvBlocks, hotWorker, random: seededRandom(seed + 1) });
  }

  /** Those of the registered workers. */
  instances(): readonly DynamoInstance[] {
    return [...this.#workers.values()].map(({ instance }) => instance);
  }

  /** A worker registers. */
  attach(index: number, worker: DynamoWorker): void {
    this.#workers.set(index, worker);
    this.#router.add(index);
    this.#profile.workerCame(worker.instance);
  }

  /** A worker is gone: what it worked on ends with an error. */
  detach(index: number): void {
    const worker = this.#workers.get(index);
    if (worker === undefined) return;
    this.#workers.delete(index);
    this.#router.remove(index);
    this.#profile.workerLeft(worker.instance);
    for (const [id, placed] of [...this.#placed]) {
      if (placed.worker !== worker) continue;
      this.#forget(id);
      this.#profile.lost(id, this.#clock.now_ns());
      placed.reply.failed();
    }
  }

  /** Takes up what a worker's engine did. */
  observe(events: readonly EngineEvent[]): void {
    this.#profile.observe(events);
    for (const event of events) {
      if (event.kind === 'finished' || event.kind === 'aborted') this.#forget(event.request.id);
    }
  }

  /** @throws ApiError 503 when there is no worker */
  nextArrival_ns(): number {
    if (this.#workers.size === 0) throw noWorker();
    const times = [...this.#workers.values()].map(({ driver }) => driver.nextArrival_ns());
    return Math.max(this.#clock.now_ns(), ...times);
  }

  submit(request: EngineRequest, reply: Reply): void {
    const choice = this.#router.choose(request);
    const worker = choice === null ? undefined : this.#workers.get(choice.worker);
    if (choice === null || worker === undefined) throw noWorker();
    const { id, promptTokens, arrival_ns, streaming = true, route = CHAT_ROUTE } = request;
    const times = drawDispatchTimes(promptTokens, this.#random);
    const dispatched_ns = arrival_ns + Math.round(dispatchSeconds(times) * NANOSECONDS_PER_SECOND);
    const tokensOf = (blocks: number): number => Math.min(promptTokens, blocks * this.#parameters.blockSize);
    const cachedTokens = tokensOf(choice.overlapBlocks);
    this.#placed.set(id, { worker, reply });
    this.#profile.routed({
      id,
      streaming,
      route,
      promptTokens,
      arrival_ns,
      dispatched_ns,
      times,
      worker: worker.instance,
      predictedHitRatio: choice.overlapBlocks / choice.promptBlocks,
      cachedTokens,
      mostCachedTokens: tokensOf(choice.mostOverlapBlocks),
      prefillTokens: Math.max(1, promptTokens - cachedTokens),
    });
    worker.submit({ ...request, arrival_ns: dispatched_ns }, reply);
  }

  abort(id: string): void {
    this.#placed.get(id)?.worker.driver.abort(id);
  }

  state(): EngineState {
    const states = [...this.#workers.values()].map(({ driver }) => driver.state());
    const sum = (of: (state: EngineState) => number): number => states.reduce((total, state) => total + of(state), 0);
    return {
      now_ns: this.#clock.now_ns(),
      running: sum(({ running }) => running),
      waiting: sum(({ waiting }) => waiting),
      usedKvBlocks: sum(({ usedKvBlocks }) => usedKvBlocks),
      numKvBlocks: sum(({ numKvBlocks }) => numKvBlocks),
      cachedKvBlocks: sum(({ cachedKvBlocks }) => cachedKvBlocks),
      offloadedBlocks: this.#parameters.offloadTiers.map((_, tier) => sum((state) => state.offloadedBlocks[tier] ?? 0)),
    };
  }

  /** The workers end by themselves. */
  close(): void {
    this.#placed.clear();
  }

  #forget(id: string): void {
    this.#placed.delete(id);
    this.#router.ended(id);
  }
}

function noWorker(): ApiError {
  return new ApiError(503, 'ServiceUnavailableError', 'no instances found for endpoint generate');
}
