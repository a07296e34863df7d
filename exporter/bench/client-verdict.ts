import { things } from '../../core/measures/things.ts';
import type { ClientHealth } from '../../core/run/result.ts';
import type { EventLoopDelays } from './event-loop-delays.ts';

/** The share of the median inter-token latency that the loop may be late by. */
const ALLOWED_SHARE = 0.05;
/** What the scheduler of any machine brings, the timer's own 2 ms included: below it lateness says nothing of the client. */
const SCHEDULING_NS = 5e6;
/** A p99 lies beyond the limit with 1 % of the time: twice that, because one sample more or less decides nothing. */
const CLEAR_SHARE = 0.02;
/** A single collection of garbage, or another program's moment, is no load that is too much. */
const FEWEST_PAUSES = 5;
/** A loop that stood still so long of its time needs no further pause to tell. */
const MOST_OF_THE_TIME = 0.5;

/**
 * Whether a client may itself be what was measured. It is `saturated` when its event loop was later than 5 % of the median
 * inter-token latency, or than 5 ms where that is less, for more than 2 % of the time of the measure phase, and that in five
 * pauses at least or for more than half of the time.
 */
export function clientVerdict(
  delays: EventLoopDelays,
  interTokenLatencyP50_ns: number | null,
): Pick<ClientHealth, 'verdict' | 'why'> {
  const p99_ns = delays.p99_ns;
  if (p99_ns === null) return { verdict: 'unknown', why: 'the event-loop delay was not sampled' };
  if (interTokenLatencyP50_ns === null) {
    return { verdict: 'unknown', why: 'no request has an inter-token latency to judge the event-loop delay by' };
  }
  const allowed_ns = ALLOWED_SHARE * interTokenLatencyP50_ns;
  const limit_ns = Math.max(allowed_ns, SCHEDULING_NS);
  const share = delays.shareLaterThan(limit_ns);
  const pauses = delays.pausesLongerThan(limit_ns);
  if (share <= CLEAR_SHARE || (pauses < FEWEST_PAUSES && share <= MOST_OF_THE_TIME))
    return { verdict: 'ok', why: null };
  const limit =
    allowed_ns >= SCHEDULING_NS
      ? `5 % of p50 inter-token latency ${milliseconds(interTokenLatencyP50_ns)}`
      : milliseconds(SCHEDULING_NS);
  const evidence = `later than that for ${percent(share)} of the time, in ${things(pauses, 'pauses')}`;
  return { verdict: 'saturated', why: `p99 event-loop delay ${milliseconds(p99_ns)} > ${limit} (${evidence})` };
}

function milliseconds(ns: number): string {
  return `${Number((ns / 1e6).toPrecision(3))} ms`;
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`;
}
