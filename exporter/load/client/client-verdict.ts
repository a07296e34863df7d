import { things } from '../../../core/text/things.ts';
import type { ClientHealth } from '../../../core/run/result.ts';
import type { EventLoopDelays } from './event-loop-delays.ts';

/** The share of the median inter-token latency that the loop may be late by. */
const ALLOWED_SHARE = 0.05;
/** The delay that any scheduler causes, including the timer's own 2 ms: smaller delays say nothing about the client. */
const SCHEDULING_NS = 5e6;
/**
 * A p99 exceeds the limit for 1 % of the time: the threshold is twice that, so that one sample more or less does not
 * decide.
 */
const CLEAR_SHARE = 0.02;
/** A single garbage collection, or a moment of another program, is not an excessive load. */
const MIN_PAUSES = 5;
/** When the loop was blocked for this share of the time, fewer pauses are sufficient. */
const MAX_THE_TIME = 0.5;

/**
 * Whether the client itself may have limited the measurement. It is `saturated` when its event loop was later than 5 %
 * of the median inter-token latency, or than 5 ms where that is less, for more than 2 % of the time of the measure
 * phase, and that in at least five pauses or for more than half of the time.
 */
export function clientVerdict(
  delays: EventLoopDelays,
  interTokenLatencyP50_ns: number | null,
): Pick<ClientHealth, 'verdict' | 'why'> {
  const p99_ns = delays.p99_ns;
  if (p99_ns === null) return { verdict: 'unknown', why: 'the event-loop delay was not sampled' };
  if (interTokenLatencyP50_ns === null) {
    return { verdict: 'unknown', why: 'no request has an inter-token latency to compare the event-loop delay with' };
  }
  const allowed_ns = ALLOWED_SHARE * interTokenLatencyP50_ns;
  const limit_ns = Math.max(allowed_ns, SCHEDULING_NS);
  const share = delays.shareLaterThan(limit_ns);
  const pauses = delays.pausesLongerThan(limit_ns);
  if (share <= CLEAR_SHARE || (pauses < MIN_PAUSES && share <= MAX_THE_TIME)) return { verdict: 'ok', why: null };
  const limit =
    allowed_ns >= SCHEDULING_NS
      ? `5 % of p50 inter-token latency ${milliseconds(interTokenLatencyP50_ns)}`
      : milliseconds(SCHEDULING_NS);
  const evidence = `exceeded for ${percent(share)} of the time, in ${things(pauses, 'pauses')}`;
  return { verdict: 'saturated', why: `p99 event-loop delay ${milliseconds(p99_ns)} > ${limit} (${evidence})` };
}

function milliseconds(ns: number): string {
  return `${Number((ns / 1e6).toPrecision(3))} ms`;
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`;
}
