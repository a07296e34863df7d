import type { Iteration } from './iteration.ts';

/** Blocks since the start of the server. */
export interface BlockTotals {
  readonly reused: number;
  readonly missed: number;
  /** Taken from the pool, for prompts and for what was generated. */
  readonly allocated: number;
}

export const NO_BLOCKS: BlockTotals = { reused: 0, missed: 0, allocated: 0 };

export function addBlocks({ reused, missed, allocated }: BlockTotals, iteration: Iteration): BlockTotals {
  return {
    reused: reused + iteration.reusedBlocks,
    missed: missed + iteration.missedBlocks,
    allocated: allocated + iteration.missedBlocks + iteration.generationBlocks,
  };
}

/** The share of blocks that were found; 0 before the first. */
export function hitRatio({ reused, missed }: Pick<BlockTotals, 'reused' | 'missed'>): number {
  return reused === 0 ? 0 : reused / (reused + missed);
}
