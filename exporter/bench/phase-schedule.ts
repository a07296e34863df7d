import type { PhaseName } from '../../core/run/record.ts';
import { arrivalOffsets_ns } from './arrivals.ts';
import type { PhaseLoad } from './benchmark-plan.ts';
import { closedLoop } from './closed-loop.ts';
import { openLoop } from './open-loop.ts';
import type { Schedule } from './schedule.ts';
import type { WakeClock } from './wake-clock.ts';
import { WHOLE, type Share } from './workers/share.ts';

/** Requests held ready at most, however many are sent at a time. */
const MOST_AHEAD = 1024;

/** The schedule of a phase. `clock` gives a clock that runs; it is asked for only when the requests have times of their own. */
export async function phaseSchedule(
  { load, requestCount }: PhaseLoad,
  phase: PhaseName,
  clock: () => Promise<WakeClock>,
  share: Share = WHOLE,
): Promise<Schedule> {
  if (load.arrivals === null) return closedLoop({ ...load, concurrency: load.concurrency ?? 1, share });
  const arrivals = { offsets_ns: arrivalOffsets_ns(load.arrivals, phase), count: requestCount };
  return openLoop({ ...load, share }, arrivals, await clock());
}

/** How many requests to write ahead: a second's worth, or one for each slot. */
export function requestsAhead({ arrivals, concurrency }: PhaseLoad['load']): number {
  const perSecond = arrivals?.kind === 'rate' ? Math.ceil(arrivals.requestRate) : 64;
  return arrivals === null ? (concurrency ?? 1) : Math.min(perSecond, MOST_AHEAD);
}
