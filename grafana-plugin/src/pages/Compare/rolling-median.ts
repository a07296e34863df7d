/** A line through points: the median of each of `bins` equal stretches of x, at the middle of the stretch. */
export function rollingMedian(
  x: readonly number[],
  y: ReadonlyArray<number | null>,
  bins: number
): { x: number[]; y: Array<number | null> } {
  const points = x.flatMap((at, i): Array<[number, number]> => {
    const value = y[i];
    return value === null || value === undefined ? [] : [[at, value]];
  });
  if (points.length === 0) {
    return { x: [], y: [] };
  }
  const low = Math.min(...points.map(([at]) => at));
  const high = Math.max(...points.map(([at]) => at));
  const width = (high - low) / bins || 1;
  const values: number[][] = Array.from({ length: bins }, () => []);
  for (const [at, value] of points) {
    values[Math.min(bins - 1, Math.floor((at - low) / width))]?.push(value);
  }
  return {
    x: values.map((_, i) => low + (i + 0.5) * width),
    y: values.map(median),
  };
}

function median(values: number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}
