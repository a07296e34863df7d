/**
 * P-values adjusted so that the chance of any false rejection stays at the level at which they are compared: Holm,
 * Scandinavian Journal of Statistics 6 (1979). In the order of the input.
 */
export function holm(ps: readonly number[]): readonly number[] {
  const adjusted = new Array<number>(ps.length).fill(1);
  let reached = 0;
  ascending(ps).forEach((index, rank) => {
    reached = Math.max(reached, Math.min(1, (ps.length - rank) * (ps[index] ?? 1)));
    adjusted[index] = reached;
  });
  return adjusted;
}

/**
 * The level of Holm's step at which each hypothesis was tested: alpha ÷ the number still open. An interval of confidence
 * 1 − level excludes no shift exactly where Holm's procedure rejects it. After the first that is not rejected the level stays.
 */
export function holmLevels(ps: readonly number[], alpha: number): readonly number[] {
  const levels = new Array<number>(ps.length).fill(alpha);
  let level = 0;
  let rejecting = true;
  ascending(ps).forEach((index, rank) => {
    if (rejecting) level = alpha / (ps.length - rank);
    levels[index] = level;
    rejecting &&= (ps[index] ?? 1) <= level;
  });
  return levels;
}

/**
 * q-values: the smallest false discovery rate at which each would be reported. Benjamini and Hochberg, Journal of the
 * Royal Statistical Society B 57 (1995). In the order of the input.
 */
export function benjaminiHochberg(ps: readonly number[]): readonly number[] {
  const adjusted = new Array<number>(ps.length).fill(1);
  let reached = 1;
  const order = ascending(ps);
  for (let rank = order.length; rank >= 1; rank--) {
    const index = order[rank - 1] ?? 0;
    reached = Math.min(reached, (ps[index] ?? 1) * (ps.length / rank));
    adjusted[index] = reached;
  }
  return adjusted;
}

/** The indexes of the p-values, the smallest p first. */
function ascending(ps: readonly number[]): readonly number[] {
  return ps.map((_, index) => index).sort((i, j) => (ps[i] ?? 1) - (ps[j] ?? 1));
}
