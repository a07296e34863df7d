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
