import type { EngineParameters } from '../engine/parameters.ts';
import { kvTransfer } from './kv-transfer.ts';
import type { Iteration } from './iteration.ts';

/** `requestStats` of a row: the requests whose prompt was finished in this iteration, with their KV transfer. */
export function requestStats({ prefilled }: Iteration, { blockSize }: EngineParameters): Record<string, unknown>[] {
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
