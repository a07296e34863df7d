import type { Random } from '../../../core/stats/seeded-random.ts';

/** Lengths of one request in tokens. */
export interface Lengths {
  readonly input: number;
  readonly output: number;
}

/** A normal distribution of integers from 1; without a standard deviation always the mean. */
export interface LengthSpread {
  readonly mean: number;
  readonly stddev: number;
}

export interface LengthPair {
  readonly input: LengthSpread;
  readonly output: LengthSpread;
}

/** Several pairs, each with its share of the requests; the shares add up to 1. */
export interface WeightedPair extends LengthPair {
  readonly share: number;
}

/** Draws the lengths of the next request: first the pair, then input and output. */
export function drawLengths(pairs: readonly WeightedPair[], random: Random): Lengths {
  let left = random();
  const pair = pairs.find(({ share }) => (left -= share) < 0) ?? pairs.at(-1);
  if (pair === undefined) throw new RangeError('no lengths to draw from');
  return { input: drawLength(pair.input, random), output: drawLength(pair.output, random) };
}

/** The lengths that every request has; null when they are random. */
export function onlyLengths(pairs: readonly WeightedPair[]): Lengths | null {
  const hasSpread = pairs.some(({ input, output }) => input.stddev > 0 || output.stddev > 0);
  return pairs.length === 1 && !hasSpread ? drawLengths(pairs, () => 0) : null;
}

export function drawLength({ mean, stddev }: LengthSpread, random: Random): number {
  return Math.max(1, Math.round(drawNormal(mean, stddev, random)));
}

/** A normally distributed number (Box-Muller); the mean itself without a standard deviation. */
export function drawNormal(mean: number, stddev: number, random: Random): number {
  if (stddev === 0) return mean;
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return mean + stddev * radius * Math.cos(2 * Math.PI * random());
}
