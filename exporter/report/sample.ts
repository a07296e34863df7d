import { sfc32 } from '../../core/stats/seeded-random.ts';

/** Selects at most `most` of `n` items: all, or a deterministic random sample, ascending. */
export function sample(n: number, most: number): number[] {
  if (n <= most) return Array.from({ length: n }, (_, i) => i);
  const random = sfc32(1);
  const chosen = new Set<number>();
  while (chosen.size < most) chosen.add(Math.floor((random() / 2 ** 32) * n));
  return [...chosen].sort((a, b) => a - b);
}
