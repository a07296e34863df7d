import type { EngineParameters } from '../engine/parameters.ts';
import { KV_BYTES_PER_TOKEN, MODEL_BYTES } from '../kv-bytes.ts';

/** Besides weights and KV cache: activations and libraries. */
const OVERHEAD_BYTES = 2.5e9;

/** Bytes of one block of the KV cache. */
export function blockBytes({ blockSize }: EngineParameters): number {
  return blockSize * KV_BYTES_PER_TOKEN;
}

/** What the server holds of the GPU's memory from its start on. */
export function gpuMemoryBytes(parameters: EngineParameters): number {
  return MODEL_BYTES + OVERHEAD_BYTES + parameters.numKvBlocks * blockBytes(parameters);
}
