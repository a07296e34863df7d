import type {
  EngineState,
  DraftCounts,
  EngineEvent,
  RequestProgress,
  ScheduledEvent,
  StepEvent,
} from '../engine/events.ts';

/** What one iteration of the executor did, and the engine as it began. */
export interface Iteration {
  /** Counts from 1. */
  readonly number: number;
  readonly seconds: number;
  readonly state: EngineState;
  readonly contextRequests: number;
  readonly contextTokens: number;
  readonly generationRequests: number;
  readonly newRequests: number;
  /** Time in the queue of the new requests, added up. */
  readonly newRequestsQueueSeconds: number;
  /** Requests whose context was finished, in this iteration. */
  readonly prefilled: readonly RequestProgress[];
  /** Requests that ended since the iteration before, however. */
  readonly completed: number;
  readonly pausedRequests: number;
  /** Blocks of the new requests' prompts that the cache had, and that it had not. */
  readonly reusedBlocks: number;
  readonly missedBlocks: number;
  readonly generationBlocks: number;
  /** Blocks that came back from each offload tier, and that went into the first one. */
  readonly onboardedBlocks: readonly number[];
  readonly offloadedBlocks: number;
  /** Cached prompt tokens of the new requests: of the device, then of each offload tier. */
  readonly cachedTokensByLevel: readonly number[];
  readonly drafts: DraftCounts | null;
  /** Blocks since the start of the server, those of this iteration included. */
  readonly totals: BlockTotals;
}

interface BlockTotals {
  readonly reused: number;
  readonly missed: number;
  /** Taken from the pool, for prompts and for what was generated. */
  readonly allocated: number;
}

/** The share of blocks that were found; 0 before the first. */
export function hitRatio({ reused, missed }: Pick<BlockTotals, 'reused' | 'missed'>): number {
  return reused === 0 ? 0 : reused / (reused + missed);
}

const SECONDS_PER_NANOSECOND = 1e-9;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Counts = Mutable<
  Omit<
    Iteration,
    'number' | 'seconds' | 'state' | 'contextRequests' | 'contextTokens' | 'generationRequests' | 'drafts' | 'totals'
  >
>;

const add = (left: readonly number[], right: readonly number[]): number[] =>
  left.map((value, i) => value + (right[i] ?? 0));

/** Puts the engine's events together to iterations: what was scheduled for a step, the step, and what it gave. */
export class IterationCounter {
  readonly #blockSize: number;
  readonly #tiers: number;
  #number = 0;
  #step: StepEvent | null = null;
  #counts: Counts;
  #totals: BlockTotals = { reused: 0, missed: 0, allocated: 0 };

  constructor({ blockSize, offloadTiers }: { blockSize: number; offloadTiers: readonly unknown[] }) {
    this.#blockSize = blockSize;
    this.#tiers = offloadTiers.length;
    this.#counts = this.#noCounts();
  }

  /** Takes up a whole portion of `advanceTo`. */
  *observe(events: readonly EngineEvent[]): Generator<Iteration> {
    for (const event of events) {
      // The tokens and ends of a step follow it; with anything else the next one begins.
      if (event.kind !== 'token' && event.kind !== 'finished') yield* this.#endIteration();
      this.#take(event);
    }
    yield* this.#endIteration();
  }

  #take(event: EngineEvent): void {
    const counts = this.#counts;
    switch (event.kind) {
      case 'step':
        this.#step = event;
        break;
      case 'scheduled':
        if (!event.resumed) this.#scheduled(event);
        break;
      case 'preempted':
        counts.pausedRequests++;
        break;
      case 'kv-traffic':
        counts.onboardedBlocks = add(counts.onboardedBlocks, event.loaded);
        counts.offloadedBlocks += event.stored[0] ?? 0;
        break;
      case 'token': {
        const before = event.request.promptTokens + event.index;
        counts.generationBlocks += Math.ceil((before + 1) / this.#blockSize) - Math.ceil(before / this.#blockSize);
        if (event.index === 0) counts.prefilled = [...counts.prefilled, event.request];
        break;
      }
      case 'finished':
      case 'aborted':
        counts.completed++;
        break;
    }
  }

  #scheduled({ request, time_ns }: ScheduledEvent): void {
    const counts = this.#counts;
    const reused = request.cachedTokens / this.#blockSize;
    const offloaded = request.offloadedTokens.reduce((sum, tokens) => sum + tokens, 0);
    counts.newRequests++;
    counts.newRequestsQueueSeconds += (time_ns - request.arrival_ns) * SECONDS_PER_NANOSECOND;
    counts.reusedBlocks += reused;
    counts.missedBlocks += Math.ceil(request.promptTokens / this.#blockSize) - reused;
    const levels = [request.cachedTokens - offloaded, ...request.offloadedTokens];
    counts.cachedTokensByLevel = add(counts.cachedTokensByLevel, levels);
  }

  *#endIteration(): Generator<Iteration> {
    const step = this.#step;
    if (step === null) return;
    const { start_ns, time_ns, prefillTokens, sequences, decoding, state, drafts } = step;
    const counts = this.#counts;
    this.#step = null;
    this.#counts = this.#noCounts();
    const { reused, missed, allocated } = this.#totals;
    this.#totals = {
      reused: reused + counts.reusedBlocks,
      missed: missed + counts.missedBlocks,
      allocated: allocated + counts.missedBlocks + counts.generationBlocks,
    };
    yield {
      ...counts,
      number: ++this.#number,
      seconds: (time_ns - start_ns) * SECONDS_PER_NANOSECOND,
      state,
      contextRequests: sequences - decoding,
      contextTokens: prefillTokens,
      generationRequests: decoding,
      drafts,
      totals: this.#totals,
    };
  }

  #noCounts(): Counts {
    return {
      newRequests: 0,
      newRequestsQueueSeconds: 0,
      prefilled: [],
      completed: 0,
      pausedRequests: 0,
      reusedBlocks: 0,
      missedBlocks: 0,
      generationBlocks: 0,
      onboardedBlocks: Array.from({ length: this.#tiers }, () => 0),
      offloadedBlocks: 0,
      cachedTokensByLevel: Array.from({ length: this.#tiers + 1 }, () => 0),
    };
  }
}
