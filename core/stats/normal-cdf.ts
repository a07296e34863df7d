/**
 * P(Z ≤ z) of a standard normal variable, accurate to 15 digits; below z = −7 to 8 digits of its size.
 *
 * J. F. Hart's rational approximation and continued fraction as given by G. West, "Better approximations to cumulative
 * normal functions", Wilmott Magazine, May 2005.
 */
export function normalCdf(z: number): number {
  const size = Math.abs(z);
  if (size > 37) return z > 0 ? 1 : 0;
  const density = Math.exp((-size * size) / 2);
  const tail =
    size < 7.07106781186547
      ? (density * polynomial(OVER, size)) / polynomial(UNDER, size)
      : density / (size + 1 / (size + 2 / (size + 3 / (size + 4 / (size + 0.65))))) / 2.506628274631;
  return z > 0 ? 1 - tail : tail;
}

const OVER = [
  3.52624965998911e-2, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871, 221.213596169931,
  220.206867912376,
];
const UNDER = [
  8.83883476483184e-2, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674, 637.333633378831,
  793.826512519948, 440.413735824752,
];

/** Value of a polynomial with the given coefficients, that of the highest power first. */
function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}
