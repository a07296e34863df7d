import type { DraftCounts, EngineEvent, EngineState, RequestProgress, StepEvent } from '../engine/events.ts';
import { deviceTokens, seconds, sum } from '../metrics/signals.ts';

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

/** Puts the engine's events together to iterations: what was scheduled for a step, the step, and what it gave. */
export class IterationCounter {
  readonly #blockSize: number;
  readonly #tiers: readonly unknown[];
  #number = 0;
  /** Since the iteration before. */
  #events: EngineEvent[] = [];
  #step: StepEvent | null = null;
  #totals: BlockTotals = { reused: 0, missed: 0, allocated: 0 };

  constructor({ blockSize, offloadTiers }: { blockSize: number; offloadTiers: readonly unknown[] }) {
    this.#blockSize = blockSize;
    this.#tiers = offloadTiers;
  }

  /** Takes up a whole portion of `advanceTo`. */
  *observe(events: readonly EngineEvent[]): Generator<Iteration> {
    for (const event of events) {
      // The tokens and ends of a step follow it; with anything else the next one begins.
      if (event.kind !== 'token' && event.kind !== 'finished') yield* this.#endIteration();
      if (event.kind === 'step') this.#step = event;
      this.#events.push(event);
    }
    yield* this.#endIteration();
  }

  *#endIteration(): Generator<Iteration> {
    const step = this.#step;
    if (step === null) return;
    const events = this.#events;
    this.#step = null;
    this.#events = [];
    const of = <K extends EngineEvent['kind']>(kind: K) =>
      events.filter((event): event is Extract<EngineEvent, { kind: K }> => event.kind === kind);
    const blocks = (tokens: number): number => Math.ceil(tokens / this.#blockSize);
    const admitted = of('scheduled').flatMap(({ resumed, request }) => (resumed ? [] : [request]));
    const [tokens, traffic] = [of('token'), of('kv-traffic')];
    const reusedBlocks = sum(admitted.map(({ cachedTokens }) => cachedTokens)) / this.#blockSize;
    const missedBlocks = sum(admitted.map(({ promptTokens }) => blocks(promptTokens))) - reusedBlocks;
    const generationBlocks = sum(
      tokens.map(
        ({ request: { promptTokens }, index }) => blocks(promptTokens + index + 1) - blocks(promptTokens + index),
      ),
    );
    const { reused, missed, allocated } = this.#totals;
    this.#totals = {
      reused: reused + reusedBlocks,
      missed: missed + missedBlocks,
      allocated: allocated + missedBlocks + generationBlocks,
    };
    yield {
      number: ++this.#number,
      seconds: seconds(step.start_ns, step.time_ns),
      state: step.state,
      contextRequests: step.sequences - step.decoding,
      contextTokens: step.prefillTokens,
      generationRequests: step.decoding,
      drafts: step.drafts,
      newRequests: admitted.length,
      newRequestsQueueSeconds: sum(admitted.map((each) => seconds(each.arrival_ns, each.scheduled_ns ?? NaN))),
      prefilled: tokens.flatMap(({ index, request }) => (index === 0 ? [request] : [])),
      completed: of('finished').length + of('aborted').length,
      pausedRequests: of('preempted').length,
      reusedBlocks,
      missedBlocks,
      generationBlocks,
      onboardedBlocks: this.#tiers.map((_, tier) => sum(traffic.map(({ loaded }) => loaded[tier] ?? 0))),
      offloadedBlocks: sum(traffic.map(({ stored }) => stored[0] ?? 0)),
      cachedTokensByLevel: [
        sum(admitted.map(deviceTokens)),
        ...this.#tiers.map((_, tier) => sum(admitted.map(({ offloadedTokens }) => offloadedTokens[tier] ?? 0))),
      ],
      totals: this.#totals,
    };
  }
}
