import type { Random } from '../../../core/stats/seeded-random.ts';
import type { FaultPlan } from '../../faults/plan.ts';
import type { Prompt } from '../../http/prompt.ts';
import type { Worker } from './worker.ts';

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
