import type {
  SearchedLoad,
  ProbeVerdict,
  CapacityBounds,
  SearchEnd,
  CapacityFile,
} from '../../../core/run/capacity.ts';
import { significant } from '../../../core/text/quantities.ts';

/** The loads that a search may use, in requests in flight or requests per second. */
export interface LoadRange {
  readonly load: SearchedLoad;
  /** The first load. */
  readonly start: number;
  /** The lowest and the highest load. */
  readonly min: number;
  readonly max: number;
}

/** A search ends when the load that fails is at most this many times the load that holds. */
export const RESOLUTION_RATIO = 1.1;

/**
 * Loads closer than this are not tried: with an undecided load in the middle, its neighbors at this distance are still within
 * the resolution.
 */
const FINEST_RATIO = 1.045;

/** Rates are rounded to this many digits, so that they can be read and typed. */
const RATE_DIGITS = 4;

/** Whether no finer answer is required between a load that holds and one that fails. */
function isFine(range: LoadRange, low: number, high: number): boolean {
  return high / low <= RESOLUTION_RATIO || (range.load === 'concurrency' && high - low <= 1);
}

/** The load in the geometric middle of two loads; null when they are too close for another one. */
function between(range: LoadRange, low: number, high: number): number | null {
  const middle = rounded(range, Math.sqrt(low * high));
  if (range.load === 'concurrency') {
    const inside = Math.min(high - 1, Math.max(low + 1, middle));
    return high - low < 2 ? null : inside;
  }
  return high / low <= FINEST_RATIO || middle <= low || middle >= high ? null : middle;
}

/** Twice the load, at most the highest; null at the highest. */
function above(range: LoadRange, load: number): number | null {
  return load >= range.max ? null : Math.min(range.max, load * 2);
}

/** Half the load, at least the lowest; null at the lowest. */
function below(range: LoadRange, load: number): number | null {
  return load <= range.min ? null : Math.max(range.min, rounded(range, load / 2));
}

function rounded({ load }: LoadRange, value: number): number {
  return load === 'concurrency' ? Math.round(value) : Number(value.toPrecision(RATE_DIGITS));
}

export interface ProbeOutcome {
  readonly load: number;
  readonly verdict: ProbeVerdict;
  /** False: good enough to choose the next load, not to confirm one. */
  readonly isConclusive: boolean;
}

/** What all probes of one load say together. */
interface LoadStanding {
  readonly load: number;
  readonly verdict: ProbeVerdict;
  /** More conclusive probes have this verdict than the opposite one, by two: one wrong probe cannot have decided. */
  readonly isConfirmed: boolean;
  /** As many probes hold as fail, and another one can decide. */
  readonly isContested: boolean;
  /** Undecided so far, and another probe can decide. */
  readonly canDecide: boolean;
  readonly probes: number;
}

/** Of one load; after these, a load that is not confirmed is undecided. */
const MAX_PROBES_OF_LOAD = 5;
const CONFIRMING_LEAD = 2;
/** A load that was undecided so often is not tried again. */
const MAX_UNDECIDED = 3;

/** The loads that were probed, ascending. */
function standingsOf(outcomes: readonly ProbeOutcome[]): readonly LoadStanding[] {
  return [...Map.groupBy(outcomes, ({ load }) => load)]
    .map(([load, probes]) => standingOf(load, probes))
    .sort((a, b) => a.load - b.load);
}

/** A conclusive probe replaces the others. */
function standingOf(load: number, probes: readonly ProbeOutcome[]): LoadStanding {
  const conclusive = probes.filter(({ isConclusive }) => isConclusive);
  const counted = conclusive.length > 0 ? conclusive : probes;
  const count = (verdict: ProbeVerdict): number => counted.filter((probe) => probe.verdict === verdict).length;
  const [holds, fails, undecided] = [count('holds'), count('fails'), count('undecided')];
  const lead = Math.abs(holds - fails);
  const isConfirmed = conclusive.length > 0 && lead >= CONFIRMING_LEAD;
  const isOver = counted.length >= MAX_PROBES_OF_LOAD || undecided >= MAX_UNDECIDED;
  const isUndecided = lead === 0 || (isOver && !isConfirmed);
  return {
    load,
    verdict: isUndecided ? 'undecided' : holds > fails ? 'holds' : 'fails',
    isConfirmed,
    isContested: lead === 0 && holds > 0 && !isOver,
    canDecide: lead === 0 && !isOver,
    probes: probes.length,
  };
}

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

/** A load in the words of the search: `concurrency 8`, `2.5 requests/s`. */
const searchedLoadText = (load: SearchedLoad, value: number): string =>
  load === 'concurrency' ? `concurrency ${value}` : `${value} requests/s`;

type Capacity = CapacityBounds &
  Pick<CapacityFile, 'load' | 'range' | 'confidence'> & { readonly end: SearchEnd | null };

/** The capacity of a search in one sentence. */
export function capacitySentence(capacity: Capacity): string {
  const { end, load, range, holds, fails } = capacity;
  const text = (value: number): string => searchedLoadText(load, value);
  const known = knownText(capacity);
  switch (end) {
    case 'found':
      return known;
    case 'not_reached':
      return `${known}, the highest load of the search (--find-max)`;
    case 'none_holds':
      return `fails from ${text(range.min)}, the lowest load of the search${confidenceText(capacity)}`;
    case 'not_monotonic':
      return `not monotonic: fails at ${fails === null ? '–' : text(fails)} and holds at a higher load${holds === null ? '' : `; below, holds up to ${text(holds)}`}`;
    case 'undecided':
      return holds !== null && fails !== null
        ? `${known}; the loads between could not be decided (${significant(fails / holds)} times apart)`
        : `${known}; no other load could be decided`;
    case 'budget':
      return `ended by the budget: ${known}`;
    case 'interrupted':
      return `interrupted: ${known}`;
    case 'failed':
      return `ended by a run that failed: ${known}`;
    case null:
      return `so far: ${known}`;
  }
}

function knownText(capacity: Capacity): string {
  const { load, holds, fails } = capacity;
  if (holds === null && fails === null) return 'nothing is known';
  const up = holds === null ? 'no load is known to hold' : `holds up to ${searchedLoadText(load, holds)}`;
  const from = fails === null ? '' : `, fails from ${searchedLoadText(load, fails)}`;
  return `${up}${from}${confidenceText(capacity)}`;
}

const confidenceText = ({ confirmed, confidence }: Capacity): string =>
  confirmed ? ` (${significant(confidence * 100)} % confidence)` : ' (not confirmed by repeats)';
