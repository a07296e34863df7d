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

/**
 * The t with P(|T| < t) = confidence for Student's distribution with a whole number of degrees of freedom, at least 1.
 * Found by bisection of the closed forms of Abramowitz and Stegun, 26.7.3 and 26.7.4, to the last digits of a double.
 * @throws RangeError when an argument is out of its range.
 */
export function studentT(confidence: number, degreesOfFreedom: number): number {
  if (!(confidence > 0 && confidence < 1)) throw new RangeError(`confidence ${confidence} is not between 0 and 1`);
  if (!Number.isInteger(degreesOfFreedom) || degreesOfFreedom < 1) {
    throw new RangeError(`${degreesOfFreedom} degrees of freedom: a whole number from 1 is needed`);
  }
  // In the angle θ = atan(t/√ν) the whole line is a finite stretch.
  let low = 0;
  let high = Math.PI / 2;
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (within(middle, degreesOfFreedom) < confidence) low = middle;
    else high = middle;
  }
  return Math.tan((low + high) / 2) * Math.sqrt(degreesOfFreedom);
}

/** P(T > t) for Student's distribution with a whole number of degrees of freedom, at least 1. */
export function studentTTail(t: number, degreesOfFreedom: number): number {
  const inside = within(Math.atan(Math.abs(t) / Math.sqrt(degreesOfFreedom)), degreesOfFreedom);
  return t >= 0 ? (1 - inside) / 2 : (1 + inside) / 2;
}

/** P(|T| < √ν tan θ). */
function within(theta: number, degreesOfFreedom: number): number {
  const odd = degreesOfFreedom % 2 === 1;
  const cosine = Math.cos(theta);
  let term = odd ? cosine : 1;
  let sum = degreesOfFreedom > 1 ? term : 0;
  for (let k = odd ? 3 : 2; k <= degreesOfFreedom - 2; k += 2) {
    term *= ((k - 1) / k) * cosine * cosine;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (theta + Math.sin(theta) * sum) : Math.sin(theta) * sum;
}

/** P(X ≥ k) of X successes in n independent trials of probability p each. Exact, summed in the order of X. */
export function binomialTail(n: number, p: number, k: number): number {
  if (k <= 0) return 1;
  if (k > n || p <= 0) return 0;
  if (p >= 1) return 1;
  let logWays = 0;
  let tail = 0;
  for (let x = 0; x <= n; x++) {
    if (x >= k) tail += Math.exp(logWays + x * Math.log(p) + (n - x) * Math.log1p(-p));
    logWays += Math.log((n - x) / (x + 1));
  }
  return Math.min(1, tail);
}

/**
 * The largest chance that a further value lies at least `deviations` standard deviations from the mean of n exchangeable
 * values, whatever their distribution: Chebyshev's inequality with estimated mean and variance, as Saw, Yang and Mo proved it
 * (The American Statistician 38, 1984). Never below 1 ÷ (n + 1): of n + 1 values any can be the odd one.
 *
 * @param deviations in sample standard deviations (divisor n − 1), above 0
 */
export function nextValueBound(n: number, deviations: number): number {
  if (!(n >= 2) || !(deviations > 0)) return 1;
  // So many of n + 1 values at most can be as far from their common mean.
  const scaled = (deviations ** 2 * n) / (n + 1);
  const asFar = Math.floor(((n + 1) / n) * ((n - 1) / scaled + 1));
  return Math.min(1, asFar / (n + 1));
}
