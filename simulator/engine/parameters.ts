import type { OffloadTier } from './offload-tiers.ts';

/** Time during which something is so: once, or again and again. Seconds since a start that the user of it chooses. */
export interface Window {
  readonly afterSeconds: number;
  readonly seconds: number;
  /** From the beginning of one to that of the next; null: only once. */
  readonly everySeconds: number | null;
}

/** When the window that holds `time_s` ends, or null when none does. The beginning belongs to it, the end does not. */
export function windowEnd({ afterSeconds, seconds, everySeconds }: Window, time_s: number): number | null {
  if (time_s < afterSeconds) return null;
  const passed = everySeconds === null ? 0 : Math.floor((time_s - afterSeconds) / everySeconds);
  const start = afterSeconds + passed * (everySeconds ?? 0);
  return time_s < start + seconds ? start + seconds : null;
}

/** A draft model that proposes tokens for each decode step; those before the first wrong one are taken. */
export interface Speculation {
  readonly draftTokens: number;
  /** How likely a draft token is right when those before it are. */
  readonly acceptanceRatio: number;
}

/** What the engine can do and how fast it is. The names are vLLM's where it has one. */
export interface EngineParameters {
  /** Most requests in one step (`max_num_seqs`). */
  readonly maxNumSeqs: number;
  /** Most tokens, prompt and output, in one step (`max_num_batched_tokens`); longer prompts are prefilled in chunks. */
  readonly maxNumBatchedTokens: number;
  /** Most tokens of one request, prompt and output (`max_model_len`). */
  readonly maxModelLen: number;
  /** Blocks of the KV cache that requests can use. */
  readonly numKvBlocks: number;
  /** Tokens per block of the KV cache. */
  readonly blockSize: number;
  readonly enablePrefixCaching: boolean;
  readonly prefillMillisecondsPerToken: number;
  /** Time of a step without any token in it. */
  readonly stepBaseMilliseconds: number;
  /** Time that each request in its decode phase adds to a step. */
  readonly decodeMillisecondsPerSequence: number;
  /** A step takes its nominal time × (1 ± jitterRatio), triangular around the middle. From 0 to below 1. */
  readonly jitterRatio: number;
  /** Where blocks go that the device gives up, the fastest first. */
  readonly offloadTiers: readonly OffloadTier[];
  /** A step that begins in this time, by the engine's clock, does not end before it; null: never. */
  readonly stall: Window | null;
  /** Speculative decoding; null: without. */
  readonly speculation: Speculation | null;
  readonly seed: number;
}

/** A mid-size GPU with a model of about 8 billion parameters. */
export const DEFAULT_ENGINE_PARAMETERS: EngineParameters = {
  maxNumSeqs: 64,
  maxNumBatchedTokens: 2048,
  maxModelLen: 8192,
  numKvBlocks: 12_287,
  blockSize: 16,
  enablePrefixCaching: true,
  prefillMillisecondsPerToken: 0.15,
  stepBaseMilliseconds: 12,
  decodeMillisecondsPerSequence: 0.25,
  jitterRatio: 0.05,
  offloadTiers: [],
  stall: null,
  speculation: null,
  seed: 1,
};

const COUNTS = ['maxNumSeqs', 'maxNumBatchedTokens', 'maxModelLen', 'numKvBlocks', 'blockSize'] as const;
const TIMES = ['prefillMillisecondsPerToken', 'stepBaseMilliseconds', 'decodeMillisecondsPerSequence'] as const;

/**
 * Checks what the scheduler relies on.
 *
 * @throws RangeError naming the parameter that is wrong
 */
export function checkEngineParameters(parameters: EngineParameters): void {
  for (const name of COUNTS) {
    if (!Number.isSafeInteger(parameters[name]) || parameters[name] < 1) {
      throw new RangeError(`${name} must be a positive integer, not ${parameters[name]}`);
    }
  }
  for (const name of TIMES) {
    if (!Number.isFinite(parameters[name]) || parameters[name] < 0) {
      throw new RangeError(`${name} must be 0 or more, not ${parameters[name]}`);
    }
  }
  if (!(parameters.stepBaseMilliseconds >= 0.001)) {
    throw new RangeError(`stepBaseMilliseconds must be at least 0.001, not ${parameters.stepBaseMilliseconds}`);
  }
  if (!(parameters.jitterRatio >= 0 && parameters.jitterRatio < 1)) {
    throw new RangeError(`jitterRatio must be from 0 to below 1, not ${parameters.jitterRatio}`);
  }
  for (const { name, blocks, loadMillisecondsPerBlock } of parameters.offloadTiers) {
    if (!Number.isSafeInteger(blocks) || blocks < 1) {
      throw new RangeError(`the ${name} tier must have 1 block or more, not ${blocks}`);
    }
    if (!Number.isFinite(loadMillisecondsPerBlock) || loadMillisecondsPerBlock < 0) {
      throw new RangeError(`the load time of the ${name} tier must be 0 or more, not ${loadMillisecondsPerBlock}`);
    }
  }
  const { draftTokens = 1, acceptanceRatio = 0 } = parameters.speculation ?? {};
  if (!Number.isSafeInteger(draftTokens) || draftTokens < 1) {
    throw new RangeError(`draftTokens must be a positive integer, not ${draftTokens}`);
  }
  if (!(acceptanceRatio >= 0 && acceptanceRatio <= 1)) {
    throw new RangeError(`acceptanceRatio must be from 0 to 1, not ${acceptanceRatio}`);
  }
  if (!Number.isSafeInteger(parameters.seed)) throw new RangeError(`seed must be an integer, not ${parameters.seed}`);
  if (parameters.numKvBlocks * parameters.blockSize < parameters.maxModelLen) {
    throw new RangeError(
      `numKvBlocks × blockSize (${parameters.numKvBlocks} × ${parameters.blockSize}) must hold maxModelLen (${parameters.maxModelLen}) tokens`,
    );
  }
}

/** KV cache of one token of a model of about 8 billion parameters: 32 layers, 8 heads of 128, keys and values, 2 bytes. */
export const KV_BYTES_PER_TOKEN = 131_072;

/** Its weights, 2 bytes each. */
export const MODEL_BYTES = 16e9;
