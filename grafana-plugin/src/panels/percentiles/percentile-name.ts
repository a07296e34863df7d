/** `p99` for 0.99, `p99.9` for 0.999. */
export function percentileName(quantile: number): string {
  return `p${Number((quantile * 100).toFixed(6))}`;
}
