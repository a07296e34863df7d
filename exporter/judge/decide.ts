import type { Reason, VerdictName, Needs } from '../../core/api/verdict.ts';
import { fewestPairs, fewestRunsAgainst, fewestRunsPerSet } from '../../core/stats/shift.ts';
import type { Evidence } from './evidence.ts';

/** What follows from the evidence on one figure. */
export interface Decision {
  readonly verdict: 'regressed' | 'improved' | 'unchanged' | 'undecided';
  readonly reason: Reason;
  /** On the scale of the evidence. */
  readonly interval: readonly [low: number, high: number];
  /** See `MeasureVerdict.detectable`, on the scale of the evidence; null when nothing could have been seen. */
  readonly detectable: number | null;
}

/** What of the evidence a decision rests on. */
export type Decidable = Pick<Evidence, 'estimate' | 'interval' | 'history'>;

/**
 * regressed: the interval is above no change and the estimate at least the margin; improved: mirrored; unchanged: the
 * interval is within the margin on both sides; else undecided.
 *
 * @param margin above 0, on the scale of the evidence
 * @param level the chance that the interval misses the truth, after the control for several measures
 * @param alone the same for one measure alone
 */
export function decide(evidence: Decidable, margin: number, level: number, alone: number): Decision {
  const { history, estimate } = evidence;
  const interval = evidence.interval(history === null ? level : HISTORY_INTERVAL);
  const verdict = verdictOf(evidence, interval, margin, level);
  return {
    verdict,
    reason: verdict === 'undecided' ? openBecause(evidence, interval, margin, alone) : 'decided',
    interval,
    detectable:
      history === null ? detectable(estimate, interval[0], margin) : Math.max(margin, history.detectable(level)),
  };
}

/** Of the interval after a history: each of its ends is a bound at 95 %. Its runs are looked at every night, and decide at their own level. */
export const HISTORY_INTERVAL = 0.1;

function verdictOf(
  { estimate, history }: Decidable,
  [low, high]: readonly [number, number],
  margin: number,
  level: number,
): Exclude<VerdictName, 'suspect'> {
  const direction = history === null ? (low > 0 ? 1 : high < 0 ? -1 : 0) : history.direction(level);
  if (direction > 0 && estimate[0] >= margin) return 'regressed';
  if (direction < 0 && estimate[1] <= -margin) return 'improved';
  return low >= -margin && high <= margin ? 'unchanged' : 'undecided';
}

function openBecause(
  evidence: Decidable,
  [low, high]: readonly [number, number],
  margin: number,
  alone: number,
): Reason {
  const { estimate } = evidence;
  const openByBuckets = estimate[1] - estimate[0];
  if (openByBuckets === Infinity || Number.isNaN(openByBuckets)) return 'unbounded';
  if (low === -Infinity && high === Infinity) return 'too_few_runs';
  if (low === -Infinity || high === Infinity) return 'unbounded';
  // More than half of the interval is buckets: more runs would not help as much as finer buckets.
  if (openByBuckets > (high - low) / 2) return 'buckets';
  if (evidence.history === null && verdictOf(evidence, evidence.interval(alone), margin, alone) !== 'undecided') {
    return 'multiple_measures';
  }
  return low > 0 || high < 0 ? 'near_margin' : 'wide_interval';
}

/**
 * If all runs of B were slower by the same factor, estimate and interval would move together: the smallest estimate at
 * which the interval is above no change and the corner that supports a regression least reaches the margin.
 */
function detectable(estimate: readonly [number, number], low: number, margin: number): number | null {
  const middle = (estimate[0] + estimate[1]) / 2;
  const found = Math.max(margin + middle - estimate[0], middle - low);
  return Number.isFinite(found) ? found : null;
}

/** Beyond this a number of runs is no advice any more: the change is too close to the margin. */
const MAX_RUNS = 100;

/** A comparison as far as its size goes. */
export interface Size {
  readonly design: 'pairs' | 'sets';
  readonly a: number;
  readonly b: number;
  /** How many measures gate. */
  readonly gating: number;
  readonly alpha: number;
}

/** The runs without which no result could decide; null when there are enough. */
export function missingRuns({ design, a, b, gating, alpha }: Size): Needs | null {
  const hypotheses = Math.max(1, gating);
  if (design === 'pairs') {
    const pairs = fewestPairs(hypotheses, alpha);
    return b >= pairs ? null : { design, pairs, further: pairs - b };
  }
  const against = fewestRunsAgainst(a, hypotheses, alpha);
  if (against !== null && b >= against) return null;
  const each = fewestRunsPerSet(hypotheses, alpha);
  const both = { furtherA: Math.max(0, each - a), furtherB: Math.max(0, each - b) };
  const onlyB = against === null ? Infinity : against - b;
  return onlyB < both.furtherA + both.furtherB ? { design, furtherA: 0, furtherB: onlyB } : { design, ...both };
}

/**
 * The runs that would probably decide what is open, if estimate and scatter stay as they are: an interval's half width falls
 * with the root of their number. Null when that are more than anyone would make.
 */
export function furtherRuns(size: Size, { estimate }: Evidence, { interval }: Decision, margin: number): Needs | null {
  const missing = missingRuns(size);
  if (missing !== null) return missing;
  const effect = Math.abs((estimate[0] + estimate[1]) / 2);
  const half = (interval[1] - interval[0]) / 2;
  const reach = effect >= margin ? effect : margin - effect;
  const times = (half / reach) ** 2;
  if (!Number.isFinite(times)) return null;
  const grown = (n: number): number => Math.max(1, Math.ceil(n * times) - n);
  const { design, a, b } = size;
  if (Math.max(grown(a), grown(b)) > MAX_RUNS) return null;
  if (design === 'pairs') return { design, pairs: b + grown(b), further: grown(b) };
  return { design, furtherA: grown(a), furtherB: grown(b) };
}

/** The larger of what two figures need; needs of different designs are not compared, the first stands. */
export function larger(x: Needs | null, y: Needs | null): Needs | null {
  if (x === null || y === null) return x ?? y;
  if (x.design === 'sets' && y.design === 'sets') {
    return {
      design: 'sets',
      furtherA: Math.max(x.furtherA, y.furtherA),
      furtherB: Math.max(x.furtherB, y.furtherB),
    };
  }
  return x.design === y.design && amount(y) > amount(x) ? y : x;
}

function amount(needs: Needs): number {
  switch (needs.design) {
    case 'sets':
      return needs.furtherA + needs.furtherB;
    case 'buckets':
      return -needs.effect;
    case 'requests':
      return needs.times;
    default:
      return needs.further;
  }
}
