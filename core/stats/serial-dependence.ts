import { normalCdf } from './normal-cdf.ts';

/** How much the values of a short series (a history of runs) depend on the one before. */
export interface SerialDependence {
  /** First-order autocorrelation of the ranks, corrected for the bias of short series; −1 to 1. */
  readonly autocorrelation: number;
  /** P of so much positive dependence in independent values: Bartels' rank version of von Neumann's ratio. */
  readonly p: number;
}

/** Below this many values the normal approximation of Bartels' ratio does not hold. */
export const MIN_FOR_DEPENDENCE = 10;

/**
 * The dependence of neighboring values, by their ranks, which limit the influence of outliers. Null for fewer than 10
 * values or when all are equal.
 *
 * Test: Bartels, Journal of the American Statistical Association 77 (1982), with his variance 20 ÷ (5n + 7). Correction
 * of the bias −(1 + 3ρ) ÷ n: Kendall, Biometrika 41 (1954).
 */
export function serialDependence(series: readonly number[]): SerialDependence | null {
  const n = series.length;
  if (n < MIN_FOR_DEPENDENCE) return null;
  const ranks = midranks(series);
  const mean = (n + 1) / 2;
  let squares = 0;
  let steps = 0;
  let products = 0;
  ranks.forEach((rank, i) => {
    squares += (rank - mean) ** 2;
    const before = ranks[i - 1];
    if (before === undefined) return;
    steps += (rank - before) ** 2;
    products += (rank - mean) * (before - mean);
  });
  if (squares === 0) return null;
  const raw = products / squares;
  const p = normalCdf((steps / squares - 2) / Math.sqrt(20 / (5 * n + 7)));
  return { autocorrelation: Math.max(-1, Math.min(1, (n * raw + 1) / (n - 3))), p };
}

/** Ranks from 1; equal values share the mean of their ranks. */
function midranks(values: readonly number[]): readonly number[] {
  const order = values.map((_, index) => index).sort((i, j) => (values[i] ?? 0) - (values[j] ?? 0));
  const ranks = new Array<number>(values.length).fill(0);
  for (let start = 0; start < order.length;) {
    let end = start + 1;
    while (end < order.length && values[order[end] ?? 0] === values[order[start] ?? 0]) end++;
    for (let place = start; place < end; place++) ranks[order[place] ?? 0] = (start + end + 1) / 2;
    start = end;
  }
  return ranks;
}
