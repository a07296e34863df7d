import type { EngineState, EngineEvent, EngineRequest } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { seededRandom } from '../../core/stats/seeded-random.ts';
import type { Random } from '../../core/stats/seeded-random.ts';
import type { FaultPlan } from '../faults/plan.ts';
import { ApiError } from '../http/api-error.ts';
import type { Reply, RequestBackend } from '../http/engine-driver.ts';
import type { MonotonicClock } from '../http/monotonic-clock.ts';
import type { DynamoProfile } from './profile.ts';
import { KvRouter } from './kv-router.ts';
import { CHAT_ROUTE, dispatchSeconds, drawDispatchTimes } from './routed-request.ts';
import type { DynamoInstance } from './routed-request.ts';
import type { DynamoWorker } from './worker.ts';

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
