/**
 * The value at `weight` (0 to 1) of the way from `low` to `high`, rounded as numpy's percentiles are: from the nearer
 * end. An infinite end does not give NaN: any weight above 0 towards +Infinity is +Infinity.
 */
export function interpolate(low: number, high: number, weight: number): number {
  if (weight === 0 || low === high) return low;
  const difference = high - low;
  if (difference === Infinity) return high === Infinity ? high : low;
  return weight < 0.5 ? low + difference * weight : high - difference * (1 - weight);
}
