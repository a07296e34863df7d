import type { PhaseName } from '../../core/run/record.ts';
import { arrivalGaps } from './arrival-gaps.ts';
import type { LoadPlan, RatePlan, TracePlan } from './load-plan.ts';
import { seededRandom } from './seeded-random.ts';

/** When the requests of a phase are due: whole nanoseconds since its start, ascending. A rate has no end. */
export function arrivalOffsets_ns(plan: RatePlan | TracePlan, phase: PhaseName): Iterator<number> {
  return plan.kind === 'trace' ? plan.offsets_ns.values() : rateOffsets_ns(plan, phase);
}

/**
 * The first request is due at 0. While the rate grows, gaps are counted in expected arrivals and mapped back to time,
 * so that a poisson pattern stays one (of growing intensity) instead of a sequence of steps.
 */
function* rateOffsets_ns(plan: RatePlan, phase: PhaseName): Generator<number> {
  const gap = arrivalGaps(plan.pattern, plan.smoothness, seededRandom(`${plan.seed}/arrivals/${phase}`));
  for (let expected = 0; ; expected += gap()) yield Math.round(secondsUntil(expected, plan) * 1e9);
}

/** When so many arrivals are expected: the rate r(t) is R t/D during the ramp, so that R t²/2D are expected by t. */
function secondsUntil(expected: number, { requestRate, rampSeconds }: RatePlan): number {
  const duringRamp = (requestRate * rampSeconds) / 2;
  if (expected < duringRamp) return Math.sqrt((2 * rampSeconds * expected) / requestRate);
  return rampSeconds + (expected - duringRamp) / requestRate;
}

/** What decides the arrivals, for the hash of the plan; null for a closed loop, in which the server decides. */
export function arrivalsKey({ arrivals }: LoadPlan): Readonly<Record<string, string | number>> | null {
  if (arrivals === null) return null;
  if (arrivals.kind === 'trace') return { arrivals: 'trace', offsets_ns: arrivals.offsets_ns.join() };
  const { requestRate, pattern, smoothness, rampSeconds, seed } = arrivals;
  const shape = pattern === 'gamma' ? smoothness : 1;
  return { arrivals: `${pattern}-1`, requestRate, smoothness: shape, rampSeconds, seed };
}
