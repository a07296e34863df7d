import type { EngineRequest } from '../engine/events.ts';
import type { Random } from '../../core/stats/seeded-random.ts';
import type { FaultPlan } from '../faults/plan.ts';

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
