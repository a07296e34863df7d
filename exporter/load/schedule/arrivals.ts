import { createHash } from 'node:crypto';
import type { LoadPhase } from '../../../core/run/record.ts';
import { drawNormal, seededRandom, type Random } from '../../../core/stats/seeded-random.ts';
import type { Dataset } from '../datasets/dataset.ts';
import type { ArrivalPattern, OpenLoad, RatePlan, RateStage, StagesPlan } from './load-plan.ts';
import { stageEdges_ns } from './load-plan.ts';

type Timed = Pick<Dataset, 'due_ns'>;

/** When the requests of a phase are due: whole nanoseconds since its start, ascending. A rate never ends. */
export function arrivalOffsets_ns(
  arrivals: OpenLoad['arrivals'],
  phase: LoadPhase,
  { due_ns }: Timed,
): Iterator<number> {
  return arrivals.kind === 'trace' ? timesOf(due_ns).values() : rateOffsets_ns(arrivals, phase);
}

/**
 * The first request is due at 0. While the rate grows, gaps are measured in expected arrivals and mapped back to time,
 * so that a Poisson process remains one (of growing intensity) instead of a sequence of steps.
 */
function* rateOffsets_ns(plan: RatePlan, phase: LoadPhase): Generator<number> {
  const gap = arrivalGaps(plan.pattern, plan.smoothness, seededRandom(`${plan.seed}/arrivals/${phase}`));
  for (let expected = 0; ; expected += gap()) yield Math.round(secondsUntil(expected, plan) * 1e9);
}

/**
 * The time at which this many arrivals are expected: the rate r(t) is R t/D during the ramp, so that R t²/2D are
 * expected by t.
 */
function secondsUntil(expected: number, { requestRate, rampSeconds }: RatePlan): number {
  const duringRamp = (requestRate * rampSeconds) / 2;
  if (expected < duringRamp) return Math.sqrt((2 * rampSeconds * expected) / requestRate);
  return rampSeconds + (expected - duringRamp) / requestRate;
}

/** Against the rounding of sums of expected arrivals. */
const HAIR = 1e-9;

/**
 * When requests of the stages with a rate are due: nanoseconds since the start of the first stage, ascending. Gaps are
 * measured in expected arrivals through all of them, so that a change of the rate moves no arrival, and a constant
 * pattern sends exactly the expected number in each stage.
 */
export function* stageOffsets_ns({ stages, pattern, smoothness, seed }: StagesPlan): Generator<number> {
  const gap = arrivalGaps(pattern, smoothness, seededRandom(`${seed}/arrivals/measure`));
  const edges_ns = stageEdges_ns(stages);
  let expected = 0;
  for (const [i, stage] of stages.entries()) {
    if (stage.kind === 'concurrency') continue;
    const all = ((stage.from + stage.to) / 2) * stage.seconds;
    for (; expected < all - HAIR; expected += gap())
      yield (edges_ns[i] ?? 0) + Math.round(secondsIntoStage(expected, stage) * 1e9);
    expected = Math.max(0, expected - all);
  }
}

/** The rate is r(t) = from + (to − from) t/D, so that from t + (to − from) t²/2D arrivals are expected by t. */
function secondsIntoStage(expected: number, { from, to, seconds }: RateStage): number {
  if (expected === 0) return 0;
  const slope = (to - from) / seconds;
  return (2 * expected) / (from + Math.sqrt(Math.max(0, from * from + 2 * slope * expected)));
}

/** What determines the arrivals, for the hash of the plan. */
export function arrivalsKey(
  arrivals: OpenLoad['arrivals'] | StagesPlan,
  { due_ns }: Timed,
): Readonly<Record<string, string | number>> {
  if (arrivals.kind === 'trace') return { arrivals: 'trace', offsets_ns: timesKey(timesOf(due_ns)) };
  const { pattern, smoothness, seed } = arrivals;
  const shape = pattern === 'gamma' ? smoothness : 1;
  if (arrivals.kind === 'stages')
    return { arrivals: `${pattern}-stages-1`, stages: JSON.stringify(arrivals.stages), smoothness: shape, seed };
  const { requestRate, rampSeconds } = arrivals;
  return { arrivals: `${pattern}-1`, requestRate, smoothness: shape, rampSeconds, seed };
}

/** Longer lists of times are hashed: the text of millions of them would not fit into a string. */
const MAX_TIMES = 1e6;

function timesKey(due_ns: Float64Array): string {
  if (due_ns.length <= MAX_TIMES) return due_ns.join();
  const bytes = new Uint8Array(due_ns.buffer, due_ns.byteOffset, due_ns.byteLength);
  return createHash('sha256').update(bytes).digest('hex');
}

function timesOf(due_ns: Float64Array | undefined): Float64Array {
  if (due_ns === undefined) throw new RangeError('the input has no timestamps');
  return due_ns;
}

/**
 * Generates the gaps between arrivals, with a mean of 1: all equal (`constant`), exponential (`poisson`) or from a
 * gamma distribution with the shape `smoothness`, whose coefficient of variation is 1/√shape.
 */
export function arrivalGaps(pattern: ArrivalPattern, smoothness: number, random: Random): () => number {
  switch (pattern) {
    case 'constant':
      return () => 1;
    case 'poisson':
      return () => -Math.log1p(-random());
    case 'gamma':
      return () => gamma(smoothness, random) / smoothness;
  }
}

/** Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (3), 2000. Scale 1. */
function gamma(shape: number, random: Random): number {
  if (shape < 1) return gamma(shape + 1, random) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(0, 1, random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}
