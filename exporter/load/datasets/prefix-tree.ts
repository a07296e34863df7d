import type { Random } from '../../../core/stats/seeded-random.ts';
import { ConfigurationError } from '../../errors/expected-error.ts';

/** Shared beginnings of prompts: each prompt begins with one path from the root to a leaf. */
export interface PrefixTree {
  /** From the root: how many branches each node has, and the tokens of each. */
  readonly levels: readonly PrefixLevel[];
  /** The n-th branch of a node is drawn with a probability proportional to 1 / n^alpha; 0: all alike. */
  readonly zipfAlpha: number;
}

export interface PrefixLevel {
  readonly count: number;
  readonly tokens: number;
}

/** Of all leaves, and of the branches of a node. */
const MAX_LEAVES = 1e6;
const MAX_LEVELS = 8;
const MAX_TOKENS = 1e7;

/** Reads `--prefix-tree`: `4x512,8x256` has 4 prefixes of 512 tokens, each continued by 8 of 256. Throws a `ConfigurationError`. */
export function parsePrefixLevels(text: string): readonly PrefixLevel[] {
  const refuse = (problem: string): never => {
    throw new ConfigurationError(`--prefix-tree '${text}': ${problem}`);
  };
  const levels = text.split(',').map((part): PrefixLevel => {
    const [, count, tokens] = /^\s*(\d+)x(\d+)\s*$/.exec(part) ?? [];
    if (count === undefined || tokens === undefined)
      return refuse(`'${part.trim()}' must be COUNTxTOKENS, as in 4x512`);
    if (Number(count) < 1 || Number(tokens) < 1 || Number(tokens) > MAX_TOKENS)
      return refuse(`'${part.trim()}' must have a count from 1 and tokens from 1 to ${MAX_TOKENS}`);
    return { count: Number(count), tokens: Number(tokens) };
  });
  if (levels.length > MAX_LEVELS) refuse(`${levels.length} levels; at most ${MAX_LEVELS}`);
  if (leavesOf(levels) > MAX_LEAVES) refuse(`${leavesOf(levels)} different prefixes; at most ${MAX_LEAVES}`);
  return levels;
}

/** How many different paths there are; 0 without levels. */
export function leavesOf(levels: readonly PrefixLevel[]): number {
  return levels.length === 0 ? 0 : levels.reduce((product, { count }) => product * count, 1);
}

/** The branch of each level on the way to the n-th leaf. */
export function pathOfLeaf(levels: readonly PrefixLevel[], leaf: number): readonly number[] {
  const path: number[] = [];
  let left = leaf;
  for (const { count } of [...levels].reverse()) {
    path.unshift(left % count);
    left = Math.floor(left / count);
  }
  return path;
}

/** Draws paths of a tree. */
export class PathDraw {
  readonly #levels: readonly { readonly count: number; readonly sums: Float64Array | null }[];

  constructor({ levels, zipfAlpha }: PrefixTree) {
    this.#levels = levels.map(({ count }) => ({ count, sums: zipfAlpha === 0 ? null : zipfSums(count, zipfAlpha) }));
  }

  draw(random: Random): readonly number[] {
    return this.#levels.map(({ count, sums }) => {
      if (sums === null) return Math.floor(random() * count);
      return firstAbove(sums, random() * (sums.at(-1) ?? 0));
    });
  }
}

/** The weights 1 / n^alpha, added up. */
function zipfSums(count: number, alpha: number): Float64Array {
  const sums = new Float64Array(count);
  let sum = 0;
  for (let i = 0; i < count; i++) sums[i] = sum += 1 / (i + 1) ** alpha;
  return sums;
}

function firstAbove(sums: Float64Array, value: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sums[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
