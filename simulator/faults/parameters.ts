import type { EngineParameters } from '../engine/parameters.ts';
import type { FaultPlan } from './plan.ts';

/**
 * The engine's parameters with the faults that lie in the engine: stalls, a small KV cache, slow offload tiers.
 *
 * @throws RangeError when the tiers are to be slow and there are none
 */
export function withEngineFaults(parameters: EngineParameters, faults: FaultPlan): EngineParameters {
  const { stall, kvPressure, slowKvTier } = faults;
  const { offloadTiers, numKvBlocks, maxModelLen, blockSize } = parameters;
  if (slowKvTier !== null && offloadTiers.length === 0) {
    throw new RangeError('slow-kv-tier: this system has no KV tier below the device');
  }
  const fewest = Math.ceil(maxModelLen / blockSize);
  return {
    ...parameters,
    stall: stall ?? parameters.stall,
    numKvBlocks: kvPressure === null ? numKvBlocks : Math.max(fewest, Math.floor(numKvBlocks * kvPressure.ratio)),
    offloadTiers: offloadTiers.map((tier) => ({
      ...tier,
      loadMillisecondsPerBlock: tier.loadMillisecondsPerBlock * (slowKvTier?.factor ?? 1),
    })),
  };
}
