import type { LoadPhase } from '../../../core/run/record.ts';
import { EARLY_END_CELLS } from '../phases/early-end.ts';

/** Counters shared by all generators of one load, in memory that threads can share. */
export interface LoadMemory {
  /** Requests of each phase that were taken: `DEALT` has the cells. */
  readonly dealt: Int32Array;
  /** For the current phase. */
  readonly earlyEnd: Int32Array;
  /** For the current phase, if a cool-down follows it. */
  readonly measuring: Int32Array;
  /** Slots in use of a load in stages: one number. */
  readonly slots: Int32Array;
  /** Output tokens of the run. */
  readonly committed: BigInt64Array;
}

export const DEALT: Readonly<Record<LoadPhase, number>> = { warmup: 0, measure: 1 };

export function newLoadMemory(): LoadMemory {
  const words = (count: number): Int32Array => new Int32Array(new SharedArrayBuffer(4 * count));
  return {
    dealt: words(Object.keys(DEALT).length),
    earlyEnd: words(EARLY_END_CELLS),
    measuring: words(1),
    slots: words(1),
    committed: new BigInt64Array(new SharedArrayBuffer(8)),
  };
}
