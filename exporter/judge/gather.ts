import { fewestPairs, fewestRunsAgainst, fewestRunsPerSet } from '../../core/stats/shift.ts';
import type { Decision } from './decide.ts';
import type { Evidence } from './evidence.ts';
import type { Needs } from '../../core/api/verdict.ts';

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
