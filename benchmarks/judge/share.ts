/** Wilson's 95 % interval of a share. */
export function wilson(successes: number, n: number): readonly [low: number, high: number] {
  const z = 1.96;
  const share = successes / n;
  const middle = (share + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
  const reach = (z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2))) / (1 + z ** 2 / n);
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}

export function percent(share: number): string {
  return `${Number((100 * share).toFixed(2))} %`;
}

/** A share with its interval and the number of what it is of. */
export function shareText(successes: number, n: number): string {
  const [low, high] = wilson(successes, n);
  return `${percent(successes / n)} (95 %: ${percent(low)} to ${percent(high)}, n = ${n})`;
}

/** The mean, and its standard error from the scatter of independent values. */
export function meanWithError(values: readonly number[]): { readonly mean: number; readonly error: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (values.length - 1) / values.length) };
}
