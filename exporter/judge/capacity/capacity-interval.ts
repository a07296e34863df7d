import type { CapacityFile } from '../../../core/run/capacity.ts';
import type { KnownInterval } from '../../../core/stats/shift.ts';

type Capacity = Pick<CapacityFile, 'load' | 'holds' | 'fails' | 'end'>;

/**
 * The capacity that a search leaves possible, in the unit of its load: from the load that holds to the one that fails, which
 * is not part of it: requests in flight are whole numbers. 0 without a load that holds, Infinity without one that fails; null
 * if the search has no result or the server has no capacity in this sense.
 */
export function capacityInterval({ load, holds, fails, end }: Capacity): KnownInterval | null {
  if (end === 'not_monotonic' || (holds === null && fails === null)) return null;
  const high = fails === null ? Infinity : load === 'concurrency' ? fails - 1 : fails;
  return [holds ?? 0, high];
}

/** From the smallest to the largest capacity that any of several searches leaves possible; null without one. */
export function spanOf(intervals: readonly KnownInterval[]): KnownInterval | null {
  if (intervals.length === 0) return null;
  return [Math.min(...intervals.map(([low]) => low)), Math.max(...intervals.map(([, high]) => high))];
}
