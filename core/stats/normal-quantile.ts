/**
 * The value below which a standard normal variable falls with probability p, 0 < p < 1.
 *
 * Peter Acklam's rational approximation; its relative error is below 1.15e-9.
 */
export function normalQuantile(p: number): number {
  if (p > 0.5) return -normalQuantile(1 - p);
  if (p < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(p));
    return polynomial(TAIL_OVER, q) / (polynomial(TAIL_UNDER, q) * q + 1);
  }
  const q = p - 0.5;
  const r = q * q;
  return (polynomial(CENTRE_OVER, r) * q) / (polynomial(CENTRE_UNDER, r) * r + 1);
}

const CENTRE_OVER = [
  -3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1,
  2.506628277459239,
];
const CENTRE_UNDER = [
  -5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1,
];
const TAIL_OVER = [
  -7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
];
const TAIL_UNDER = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416];

/** Value of a polynomial with the given coefficients, that of the highest power first. */
function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}
