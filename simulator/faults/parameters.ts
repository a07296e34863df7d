import type { EngineParameters } from '../engine/parameters.ts';
import type { FaultPlan } from './plan.ts';

/**
 * The engine's parameters with the faults that lie in the engine: stalls, slow steps, a small KV cache, slow offload tiers.
 *
 * @throws RangeError when the tiers are to be slow and there are none
 */
export function withEngineFaults(parameters: EngineParameters, faults: FaultPlan): EngineParameters {
  const { stall, slowdown, kvPressure, slowKvTier } = faults;
  const factor = slowdown?.factor ?? 1;
  const { offloadTiers, numKvBlocks, maxModelLen, blockSize } = parameters;
  if (slowKvTier !== null && offloadTiers.length === 0) {
    throw new RangeError('slow-kv-tier: this system has no KV tier below the device');
  }
  const fewest = Math.ceil(maxModelLen / blockSize);
  return {
    ...parameters,
    stall: stall ?? parameters.stall,
    prefillMillisecondsPerToken: parameters.prefillMillisecondsPerToken * factor,
    stepBaseMilliseconds: parameters.stepBaseMilliseconds * factor,
    decodeMillisecondsPerSequence: parameters.decodeMillisecondsPerSequence * factor,
    numKvBlocks: kvPressure === null ? numKvBlocks : Math.max(fewest, Math.floor(numKvBlocks * kvPressure.ratio)),
    offloadTiers: offloadTiers.map((tier) => ({
      ...tier,
      loadMillisecondsPerBlock: tier.loadMillisecondsPerBlock * (slowKvTier?.factor ?? 1),
    })),
  };
}
