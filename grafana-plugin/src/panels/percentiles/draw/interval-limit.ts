import type { PercentileLine } from './lines.ts';

/** The intervals of more lines lie so much over each other that none can be read, and take long to paint. */
export const MOST_INTERVALS = 15;

/** True when the lines are few enough for the intervals of all of them. */
export function drawsIntervals(lines: readonly PercentileLine[]): boolean {
  return lines.length <= MOST_INTERVALS;
}
