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
