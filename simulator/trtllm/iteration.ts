import type { DraftCounts, EngineEvent, EngineState, RequestProgress, StepEvent } from '../engine/events.ts';
import { blockBytes, deviceTokens, seconds, sum } from '../metrics/signals.ts';
import type { EngineParameters, Speculation } from '../engine/parameters.ts';
import { KV_BYTES_PER_TOKEN, MODEL_BYTES } from '../engine/parameters.ts';

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

/** `iter_stats_max_iterations`: rows beyond it are dropped, the oldest first. */
const MAX_ROWS = 1000;

/** The rows that have not been read yet. */
export class IterationLog {
  readonly #parameters: EngineParameters;
  readonly #wallSeconds: () => number;
  #rows: Record<string, unknown>[] = [];
  #dropped = 0;

  constructor(parameters: EngineParameters, wallSeconds: () => number) {
    this.#parameters = parameters;
    this.#wallSeconds = wallSeconds;
  }

  observe(iteration: Iteration): void {
    const wall = new Date(this.#wallSeconds() * 1000);
    const context = { parameters: this.#parameters, wall, droppedFrames: this.#dropped };
    this.#rows.push(iterationRow(iteration, context));
    if (this.#rows.length <= MAX_ROWS) return;
    this.#rows.shift();
    this.#dropped++;
  }

  /** The rows since the last call, as a JSON array: reading takes them away. */
  drain(): string {
    const rows = this.#rows;
    this.#rows = [];
    return JSON.stringify(rows);
  }
}

interface RowContext {
  readonly parameters: EngineParameters;
  readonly wall: Date;
  /** Rows that were dropped unread before this one. */
  readonly droppedFrames: number;
}

const MILLISECONDS_PER_SECOND = 1000;
const HOST_MILLISECONDS = 2.4;
/** Of an iteration, what the forward pass takes. */
const FORWARD_SHARE = 0.93;

const milliseconds = (seconds: number): number => Math.round(seconds * MILLISECONDS_PER_SECOND * 1000) / 1000;

/**
 * One element of the JSON array that trtllm-serve answers on `/metrics` with `enable_iter_perf_stats` and
 * `enable_iter_req_stats`. What is 0 here is always 0 on the PyTorch backend.
 */
function iterationRow(iteration: Iteration, context: RowContext): Record<string, unknown> {
  const { parameters, wall, droppedFrames } = context;
  const { state, number, seconds, drafts, totals } = iteration;
  return {
    timestamp: localTimestamp(wall),
    iter: number,
    iterLatencyMS: milliseconds(seconds),
    newActiveRequestsQueueLatencyMS: milliseconds(iteration.newRequestsQueueSeconds),
    numNewActiveRequests: iteration.newRequests,
    numActiveRequests: state.running,
    numQueuedRequests: state.waiting,
    numCompletedRequests: iteration.completed,
    maxNumActiveRequests: parameters.maxNumSeqs,
    maxBatchSizeStatic: 0,
    maxBatchSizeTunerRecommended: 0,
    maxBatchSizeRuntime: 0,
    maxNumTokensStatic: 0,
    maxNumTokensTunerRecommended: 0,
    maxNumTokensRuntime: 0,
    gpuMemUsage: gpuMemoryBytes(parameters),
    cpuMemUsage: 0,
    pinnedMemUsage: 0,
    kvCacheStats: {
      maxNumBlocks: state.numKvBlocks,
      freeNumBlocks: state.numKvBlocks - state.usedKvBlocks,
      usedNumBlocks: state.usedKvBlocks,
      tokensPerBlock: parameters.blockSize,
      allocTotalBlocks: totals.allocated,
      allocNewBlocks: totals.allocated,
      reusedBlocks: totals.reused,
      missedBlocks: totals.missed,
      cacheHitRate: hitRatio(totals),
    },
    staticBatchingStats: {
      numScheduledRequests: 0,
      numContextRequests: 0,
      numCtxTokens: 0,
      numGenTokens: 0,
      emptyGenSlots: 0,
    },
    inflightBatchingStats: {
      numScheduledRequests: iteration.contextRequests + iteration.generationRequests,
      numContextRequests: iteration.contextRequests,
      numGenRequests: iteration.generationRequests,
      numPausedRequests: iteration.pausedRequests,
      numCtxTokens: iteration.contextTokens,
      microBatchId: 0,
      avgNumDecodedTokensPerIter: 0.0,
    },
    specDecodingStats: drafts === null ? null : speculativeStats(iteration, parameters),
    attentionDpRank: 0,
    schedulerMode: 'overlap',
    hostStepTimeMS: HOST_MILLISECONDS,
    prevDeviceStepTimeMS: milliseconds(seconds),
    gpuForwardTimeMS: milliseconds(seconds * FORWARD_SHARE),
    statsSequence: number,
    statsDroppedFrames: droppedFrames,
    kvCacheIterationStats: { [`${parameters.maxModelLen}`]: windowStats(iteration, parameters) },
    iterSuspendedRequests: iteration.pausedRequests,
    iterResumedRequests: 0,
    iterDiskPrefetchBlocks: iteration.onboardedBlocks[1] ?? 0,
    iterCachedTokensByLevel: iteration.cachedTokensByLevel,
    kvCacheLevelTiers: ['gpu', ...parameters.offloadTiers.map(({ name }) => name)],
    requestStats: requestStats(iteration, parameters),
  };
}

function speculativeStats({ drafts, seconds }: Iteration, { speculation }: EngineParameters): Record<string, number> {
  const { sequences = 0, acceptedByPosition = [] } = drafts ?? {};
  const accepted = acceptedByPosition.reduce((sum, count) => sum + count, 0);
  const overhead = speculation === null || sequences === 0 ? 0 : draftOverhead(speculation);
  return {
    numDraftTokens: sequences * (speculation?.draftTokens ?? 0),
    numAcceptedTokens: accepted,
    numRequestsWithDraftTokens: sequences,
    acceptanceLength: sequences === 0 ? 0 : (accepted + sequences) / sequences,
    iterLatencyMS: milliseconds(seconds * overhead),
    draftOverhead: overhead,
  };
}

function windowStats(iteration: Iteration, parameters: EngineParameters): Record<string, number> {
  const { state, reusedBlocks, missedBlocks, generationBlocks, offloadedBlocks } = iteration;
  const free = state.numKvBlocks - state.usedKvBlocks;
  const onboarded = iteration.onboardedBlocks.reduce((sum, blocks) => sum + blocks, 0);
  const bytes = blockBytes(parameters);
  return {
    primaryMaxNumBlocks: state.numKvBlocks,
    primaryFreeNumBlocks: free,
    primaryUsedNumBlocks: state.usedKvBlocks,
    primaryEvictableNumBlocks: state.cachedKvBlocks,
    primaryPeakFreeNumBlocks: free,
    primaryPeakUsedNumBlocks: state.usedKvBlocks,
    primaryPeakEvictableNumBlocks: state.cachedKvBlocks,
    iterAllocTotalBlocks: missedBlocks + generationBlocks,
    iterAllocNewBlocks: missedBlocks + generationBlocks,
    iterReusedBlocks: reusedBlocks,
    iterFullReusedBlocks: reusedBlocks,
    iterPartialReusedBlocks: 0,
    iterMissedBlocks: missedBlocks,
    iterCacheHitRate: hitRatio({ reused: reusedBlocks, missed: missedBlocks }),
    iterGenAllocBlocks: generationBlocks,
    iterOnboardBlocks: onboarded,
    iterOnboardBytes: onboarded * bytes,
    iterOffloadBlocks: offloadedBlocks,
    iterOffloadBytes: offloadedBlocks * bytes,
    iterIntraDeviceCopyBlocks: 0,
    iterIntraDeviceCopyBytes: 0,
    iterHostDroppedBlocks: 0,
    iterHostDroppedBytes: 0,
  };
}

/** `MM-DD-YYYY HH:MM:SS.ffffff` in local time. */
function localTimestamp(wall: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = `${two(wall.getMonth() + 1)}-${two(wall.getDate())}-${wall.getFullYear()}`;
  const time = `${two(wall.getHours())}:${two(wall.getMinutes())}:${two(wall.getSeconds())}`;
  return `${date} ${time}.${String(wall.getMilliseconds()).padStart(3, '0')}000`;
}

/** `requestStats` of a row: the requests whose prompt was finished in this iteration, with their KV transfer. */
function requestStats({ prefilled }: Iteration, { blockSize }: EngineParameters): Record<string, unknown>[] {
  return prefilled.map((request) => {
    const blocks = Math.ceil(request.promptTokens / blockSize);
    const reused = request.cachedTokens / blockSize;
    const { bytes, seconds } = kvTransfer(request);
    return {
      id: numberOf(request.id),
      stage: request.outputTokens > 1 ? 'GENERATION_IN_PROGRESS' : 'GENERATION_COMPLETE',
      contextPrefillPosition: request.promptTokens,
      numGeneratedTokens: 1,
      avgNumDecodedTokensPerIter: 1.0,
      scheduled: true,
      paused: false,
      allocTotalBlocksPerRequest: blocks - reused,
      allocNewBlocksPerRequest: blocks - reused,
      reusedBlocksPerRequest: reused,
      missedBlocksPerRequest: blocks - reused,
      kvCacheHitRatePerRequest: reused / blocks,
      disServingStats: { kvCacheTransferMS: seconds * 1000, kvCacheSize: bytes },
    };
  });
}

/** TensorRT-LLM numbers its requests; here a number is made of the id. */
function numberOf(id: string): number {
  let hash = 0;
  for (const letter of id) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
  return hash;
}

/** Besides weights and KV cache: activations and libraries. */
const OVERHEAD_BYTES = 2.5e9;

/** What the server holds of the GPU's memory from its start on. */
export function gpuMemoryBytes(parameters: EngineParameters): number {
  return MODEL_BYTES + OVERHEAD_BYTES + parameters.numKvBlocks * blockBytes(parameters);
}

const BYTES_PER_SECOND = 20e9;
const HANDSHAKE_SECONDS = 0.002;

/** What moving the KV cache of a prompt from a context to a generation server takes, when they are two. */
export function kvTransfer({ promptTokens }: { promptTokens: number }): { bytes: number; seconds: number } {
  const bytes = promptTokens * KV_BYTES_PER_TOKEN;
  return { bytes, seconds: HANDSHAKE_SECONDS + bytes / BYTES_PER_SECOND };
}

/** Share of an iteration that drafting one token takes. */
const SHARE_PER_DRAFT_TOKEN = 0.06;

/** Share of an iteration that is spent on drafting. */
export function draftOverhead({ draftTokens }: Speculation): number {
  return Math.min(0.5, draftTokens * SHARE_PER_DRAFT_TOKEN);
}
