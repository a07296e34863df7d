import type { PercentileLine } from './lines.ts';

/** With more lines, intervals overlap too much to be readable and are slow to paint. */
export const MAX_INTERVALS = 15;

/** True when the lines are few enough for the intervals of all of them. */
export function drawsIntervals(lines: readonly PercentileLine[]): boolean {
  return lines.length <= MAX_INTERVALS;
}
