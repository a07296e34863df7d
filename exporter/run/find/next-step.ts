import type { CapacityBounds, SearchEnd } from '../../../core/run/capacity.ts';
import { above, below, between, isFine, type LoadRange } from './load-range.ts';
import { standingsOf, type LoadStanding, type ProbeOutcome } from './load-standing.ts';

/** How a search ends by itself. */
type AnsweredEnd = Exclude<SearchEnd, 'budget' | 'interrupted' | 'failed'>;

export type SearchStep =
  | {
      readonly kind: 'probe';
      readonly load: number;
      readonly repeat: number;
      /** The probe must be conclusive; else a verdict that only guides the search is enough. */
      readonly isConfirming: boolean;
    }
  | ({ readonly kind: 'end'; readonly end: AnsweredEnd } & CapacityBounds);

/** More probes than any search takes. */
const MAX_PROBES = 200;

/**
 * What a search does next, from the outcomes of its probes in any order: double the load from the start until the objectives
 * fail, bisect (geometrically) between the largest load that holds and the smallest that fails, and repeat both until two more
 * probes agree than disagree. A load that could not be decided is tried again if the response would be too coarse without it,
 * and else is left between the two bounds. Before the end one load above the failing one is tried, unless the search came from
 * there, because a server that recovers at a higher load has no capacity in this sense. The next step depends on the outcomes
 * alone, so that an interrupted search continues from its file.
 */
export function nextStep(range: LoadRange, outcomes: readonly ProbeOutcome[]): SearchStep {
  const standings = standingsOf(outcomes);
  if (outcomes.length >= MAX_PROBES) return end('undecided', standings);
  const contested = standings.find(({ isContested }) => isContested);
  if (contested !== undefined) return repeat(contested);
  const contradiction = firstContradiction(standings);
  if (contradiction !== null) {
    const open = contradiction.find(({ isConfirmed }) => !isConfirmed);
    return open === undefined ? end('not_monotonic', standings) : repeat(open);
  }
  const failing = standings.find(({ verdict }) => verdict === 'fails');
  if (failing === undefined) return higher(range, standings);
  const holding = standings.findLast(({ verdict }) => verdict === 'holds');
  if (holding === undefined) return lower(range, standings);
  return narrower(range, standings, holding, failing);
}

/** The bounds that the outcomes support so far. */
export function boundsOf(outcomes: readonly ProbeOutcome[]): CapacityBounds {
  return bounds(standingsOf(outcomes));
}

function bounds(standings: readonly LoadStanding[]): CapacityBounds {
  const failing = standings.find(({ verdict }) => verdict === 'fails');
  const holding = standings.findLast(({ verdict, load }) => verdict === 'holds' && load < (failing?.load ?? Infinity));
  const known = [holding, failing].filter((each) => each !== undefined);
  return {
    holds: holding?.load ?? null,
    fails: failing?.load ?? null,
    confirmed: known.length > 0 && known.every(({ isConfirmed }) => isConfirmed),
  };
}

const end = (reason: AnsweredEnd, standings: readonly LoadStanding[]): SearchStep => ({
  kind: 'end',
  end: reason,
  ...bounds(standings),
});

const repeat = ({ load, probes }: LoadStanding): SearchStep => ({
  kind: 'probe',
  load,
  repeat: probes,
  isConfirming: true,
});
const first = (load: number): SearchStep => ({ kind: 'probe', load, repeat: 0, isConfirming: false });

/** The smallest failing load, and the largest that holds, above it. */
function firstContradiction(standings: readonly LoadStanding[]): readonly [LoadStanding, LoadStanding] | null {
  const failing = standings.find(({ verdict }) => verdict === 'fails');
  const holding = standings.findLast(({ verdict }) => verdict === 'holds');
  if (failing === undefined || holding === undefined || holding.load < failing.load) return null;
  return [failing, holding];
}

/** Nothing fails so far. */
function higher(range: LoadRange, standings: readonly LoadStanding[]): SearchStep {
  const top = standings.at(-1);
  if (top === undefined) return first(range.start);
  const next = above(range, top.load);
  if (next !== null) return first(next);
  const holding = standings.findLast(({ verdict }) => verdict === 'holds');
  if (holding !== undefined && !holding.isConfirmed) return repeat(holding);
  return end(top.verdict === 'holds' ? 'not_reached' : 'undecided', standings);
}

/** Nothing holds so far. */
function lower(range: LoadRange, standings: readonly LoadStanding[]): SearchStep {
  const bottom = standings[0];
  const next = bottom === undefined ? null : below(range, bottom.load);
  if (next !== null) return first(next);
  const failing = standings.find(({ verdict }) => verdict === 'fails');
  if (failing !== undefined && !failing.isConfirmed) return repeat(failing);
  return end(bottom?.verdict === 'fails' ? 'none_holds' : 'undecided', standings);
}

function narrower(
  range: LoadRange,
  standings: readonly LoadStanding[],
  holding: LoadStanding,
  failing: LoadStanding,
): SearchStep {
  const fine = isFine(range, holding.load, failing.load);
  const next = fine ? null : middleOfWidestGap(range, standings, holding.load, failing.load);
  if (next !== null) return first(next);
  const open = fine ? undefined : openLoad(standings, holding.load, failing.load);
  if (open !== undefined) return repeat(open);
  for (const bound of [holding, failing]) if (!bound.isConfirmed) return repeat(bound);
  const isHighest = standings.at(-1) === failing;
  const check = isHighest ? above(range, failing.load) : null;
  if (check !== null) return first(check);
  return end(fine ? 'found' : 'undecided', standings);
}

/** An undecided load between the bounds that can be tried again, the one with the fewest probes. */
function openLoad(standings: readonly LoadStanding[], low: number, high: number): LoadStanding | undefined {
  return standings
    .filter(({ load, canDecide }) => load > low && load < high && canDecide)
    .sort((a, b) => a.probes - b.probes)[0];
}

/** Undecided loads between the bounds divide the interval into gaps. */
function middleOfWidestGap(
  range: LoadRange,
  standings: readonly LoadStanding[],
  low: number,
  high: number,
): number | null {
  const loads = standings.map(({ load }) => load).filter((load) => load >= low && load <= high);
  const gaps = loads.slice(1).map((load, i) => [loads[i] ?? low, load] as const);
  const widest = gaps.sort(([a, b], [c, d]) => d / c - b / a);
  for (const [from, to] of widest) {
    const middle = between(range, from, to);
    if (middle !== null) return middle;
  }
  return null;
}
