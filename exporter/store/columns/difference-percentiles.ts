import { interpolate } from '../../../core/stats/interpolate.ts';
import { selectRanks } from '../../../core/stats/select.ts';

/**
 * Percentiles of `end − begin` over the rows that have both (NaN is null), linear between order statistics (rank
 * (n − 1)q); NaN when no row has. `quantiles` ascend, within 0 to 1.
 */
export function differencePercentiles(
  end: Float64Array,
  begin: Float64Array,
  quantiles: readonly number[],
): { n: number; percentiles: number[] } {
  const all = new Float64Array(end.length);
  let n = 0;
  for (let i = 0; i < end.length; i++) {
    const difference = (end[i] ?? NaN) - (begin[i] ?? NaN);
    // Overwritten by the next one when it is NaN.
    all[n] = difference;
    if (!Number.isNaN(difference)) n += 1;
  }
  const values = all.subarray(0, n);
  const ranks = quantiles.map((q) => (n - 1) * q);
  const wanted = ranks.flatMap((rank) => [Math.floor(rank), Math.min(Math.floor(rank) + 1, n - 1)]);
  if (n > 0)
    selectRanks(
      values,
      [...new Set(wanted)].sort((a, b) => a - b),
    );
  const at = (rank: number): number => values[Math.min(rank, n - 1)] ?? NaN;
  const percentiles = ranks.map((rank) => {
    const below = Math.floor(rank);
    return n === 0 ? NaN : interpolate(at(below), at(below + 1), rank - below);
  });
  return { n, percentiles };
}
