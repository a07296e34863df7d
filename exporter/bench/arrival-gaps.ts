import type { ArrivalPattern } from './load-plan.ts';
import type { Random } from './seeded-random.ts';

/**
 * Gives the gaps between arrivals one after the other, with a mean of 1: all equal (`constant`), exponential
 * (`poisson`) or of a gamma distribution with the shape `smoothness`, whose coefficient of variation is 1/√shape.
 */
export function arrivalGaps(pattern: ArrivalPattern, smoothness: number, random: Random): () => number {
  switch (pattern) {
    case 'constant':
      return () => 1;
    case 'poisson':
      return () => -Math.log1p(-random());
    case 'gamma':
      return () => gamma(smoothness, random) / smoothness;
  }
}

/** Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (3), 2000. Scale 1. */
function gamma(shape: number, random: Random): number {
  if (shape < 1) return gamma(shape + 1, random) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Box and Muller. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
