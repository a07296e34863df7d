import { studentT, studentTTail } from './distributions.ts';
import { mean, median } from './percentiles.ts';
import type { Interval, KnownInterval } from './shift.ts';

/** Fewer values say nothing of their dependence. */
const MIN_FOR_DEPENDENCE = 10;
/**
 * What the dependence is taken for before it is estimated, and how much that weighs. Five series of 20 values estimate it with a
 * standard deviation of 0.15; drawn to a guess it scatters less, and what is taken for too small costs more false alarms than what is
 * taken for too large costs power.
 */
const GUESS = 0.5;
const WEIGHT_OF_GUESS = 0.3;
const MAX_DEPENDENCE = 0.85;

/**
 * First-order autocorrelation of the ranks, which limit the influence of outliers, −1 to 1. Null for fewer than 10 values or when
 * all are equal.
 *
 * Correction of the bias −(1 + 3ρ) ÷ n: Kendall, Biometrika 41 (1954).
 */
export function rankAutocorrelation(series: readonly number[]): number | null {
  const n = series.length;
  if (n < MIN_FOR_DEPENDENCE) return null;
  const ranks = midranks(series);
  const mean = (n + 1) / 2;
  let squares = 0;
  let products = 0;
  ranks.forEach((rank, i) => {
    squares += (rank - mean) ** 2;
    products += i === 0 ? 0 : (rank - mean) * ((ranks[i - 1] ?? NaN) - mean);
  });
  if (squares === 0) return null;
  return Math.max(-1, Math.min(1, ((n * products) / squares + 1) / (n - 3)));
}

/**
 * How much runs resemble the run before, by several series of the same runs: one of 20 values says little of it, and what makes
 * runs resemble each other moves all of them. From 0 (independent); series of which most values are equal say nothing.
 */
export function dependenceBetween(series: readonly (readonly number[])[]): number {
  const known = series.flatMap((values) => {
    const center = median(values);
    const isMostlyEqual = 2 * values.filter((value) => value === center).length > values.length;
    return isMostlyEqual ? [] : (rankAutocorrelation(values) ?? []);
  });
  if (known.length === 0) return 0;
  return Math.max(0, Math.min(MAX_DEPENDENCE, WEIGHT_OF_GUESS * GUESS + (1 - WEIGHT_OF_GUESS) * mean(known)));
}

/**
 * By how much the difference between the means of `k` values and of the `n` before scatters more than that of independent values,
 * in standard deviations as they are estimated from the `n`: of an autoregression of first order.
 */
export function dependentDeviation(
  { dependence, n }: { readonly dependence: number; readonly n: number },
  k: number,
): number {
  if (dependence === 0) return 1;
  const ofMean = varianceOfMean(dependence, n);
  const estimated = (n - n * ofMean) / Math.max(1, n - 1);
  return Math.sqrt((varianceOfMean(dependence, k) + ofMean) / (1 / k + 1 / n) / (estimated || 1));
}

/** Of `count` values with variance 1. */
function varianceOfMean(dependence: number, count: number): number {
  let sum = 1;
  for (let lag = 1; lag < count; lag++) sum += 2 * (1 - lag / count) * dependence ** lag;
  return sum / count;
}

/** Ranks from 1; equal values share the mean of their ranks. */
function midranks(values: readonly number[]): readonly number[] {
  const order = values.map((_, index) => index).sort((i, j) => (values[i] ?? 0) - (values[j] ?? 0));
  const ranks = new Array<number>(values.length).fill(0);
  for (let start = 0; start < order.length;) {
    let end = start + 1;
    while (end < order.length && values[order[end] ?? 0] === values[order[start] ?? 0]) end++;
    for (let place = start; place < end; place++) ranks[order[place] ?? 0] = (start + end + 1) / 2;
    start = end;
  }
  return ranks;
}

/**
 * Whether the last values of a series lie higher or lower than a reference before them, such that no single value on either side
 * decides or hides it: the reference has a robust center and scale (Huber, Annals of Mathematical Statistics 35, 1964), and each
 * later value counts with at most a bounded score. The last 3, 5 and 8 values are looked at together whenever a value arrives.
 */

/**
 * By numbers of last values that decide together, the share of the chance of error that each may use. Together they are more than 1
 * because looks share values, and because Student's tail overstates that of a sum of bounded scores, most for few of them.
 */
const SHARES: ReadonlyMap<number, number> = new Map([
  [3, 0.75],
  [5, 0.5],
  [8, 0.4],
]);
export const LOOKS: readonly number[] = [...SHARES.keys()];
export const MIN_LOOK = Math.min(...LOOKS);
export const MAX_LOOK = Math.max(...LOOKS);
/** Fewer values have no scale that means anything. */
export const MIN_REFERENCE = 5;
/** The bound of a score is so many times the mean with which three values decide: two with one at the center never do. */
const BOUND_REACH = 1.13;
/** Huber's bound of an influence, in standard deviations, and what it leaves of the variance and slope of a normal variable. */
const INFLUENCE = 1.5;
const VARIANCE_WITHIN = 0.7784;
const SHARE_WITHIN = 0.8664;
/** 1 ÷ the third quartile of a normal variable. */
const NORMAL_MAD = 1.4826;
/** Deviation from the median of a look beyond which a value no longer moves the estimate. */
const ESTIMATE_BOUND = 2;

export interface Reference {
  /** From the smallest corner of values known as intervals to the largest. */
  readonly center: KnownInterval;
  /** Robust standard deviation of one value. */
  readonly scale: number;
  /** Values that the center is of. */
  readonly n: number;
  /** Degrees of freedom of the scale. */
  readonly degrees: number;
  /** The largest score of one independent value, in scales. */
  readonly bound: number;
  /** How much a value resembles the one before: their correlation, 0 to 1. */
  readonly dependence: number;
}

export interface ReferenceOptions {
  /**
   * From which change of level on each value is, ascending; the center is that of the last level, the scale that within levels.
   * Default: one level.
   */
  readonly levels?: readonly number[];
  /** Default: values are independent. */
  readonly dependence?: number;
  /** The two-sided chance of error at which a change is found. */
  readonly level?: number;
}

export function referenceOf(
  values: readonly KnownInterval[],
  { levels = [], dependence = 0, level = 0.0005 }: ReferenceOptions = {},
): Reference {
  const groups = groupsOf(values, levels);
  const last = groups.at(-1) ?? [];
  const residuals = residualsOf(groups);
  const degrees = Math.max(1, values.length - groups.length);
  const halves = values.map(([low, high]) => (high - low) / 2);
  const scale = scaleOf(residuals, degrees) + Math.sqrt(mean(halves.map((half) => half ** 2)));
  const center = (end: 0 | 1): number =>
    centerOf(
      last.map((value) => value[end]),
      scale,
    );
  return {
    center: [center(0), center(1)],
    scale,
    n: last.length,
    degrees,
    bound:
      BOUND_REACH * quantile(1 - 2 * lookLevel(MIN_LOOK, level), degrees) * Math.sqrt(1 / MIN_LOOK + 1 / last.length),
    dependence,
  };
}

/** How much the runs of several series resemble the run before: see `Reference.dependence`. */
export function dependenceOf(series: readonly (readonly KnownInterval[])[], levels: readonly number[] = []): number {
  return dependenceBetween(series.map((values) => residualsOf(groupsOf(values, levels))));
}

function groupsOf(values: readonly KnownInterval[], levels: readonly number[]): readonly (readonly KnownInterval[])[] {
  return [...Map.groupBy(values, (_, i) => levels[i] ?? 0).values()];
}

/** What is left without the level. */
function residualsOf(groups: readonly (readonly KnownInterval[])[]): readonly number[] {
  return groups.flatMap((group) => {
    const center = median(group.map(middle));
    return group.map((value) => middle(value) - center);
  });
}

/** What the last `k` values say. */
export interface RunLook {
  readonly k: number;
  /** How far they lie above the center. */
  readonly estimate: KnownInterval;
  /** One-sided chances of "nothing changed", at the corner that supports a change least. */
  readonly up: number;
  readonly down: number;
}

/** All values together; at least one. */
export function lookAt(reference: Reference, last: readonly KnownInterval[]): RunLook {
  const k = last.length;
  const { center, scale, degrees } = reference;
  const bound = k === 1 ? Infinity : reference.bound * dependentDeviation(reference, k);
  const chance = (scores: readonly number[]): number => {
    const score = mean(scores.map((each) => bounded(each, bound)));
    // A value that is not finite in the reference leaves everything open.
    return Number.isNaN(score) ? 1 : studentTTail(score / deviationOf(reference, k), degrees);
  };
  return {
    k,
    estimate: [estimateOf(last, 0, scale) - center[1], estimateOf(last, 1, scale) - center[0]],
    up: chance(last.map(([low]) => score(low - center[1], scale))),
    down: chance(last.map(([, high]) => score(center[0] - high, scale))),
  };
}

/** Two-sided chance of a look when nothing changed, after the looks with the other numbers of values. */
export function chanceOf({ k, up, down }: RunLook): number {
  return Math.min(1, (2 * Math.min(up, down)) / shareOf(k));
}

/** The one-sided chance of error at which `k` values decide, of the chance of all looks in both directions. */
export function lookLevel(k: number, chance: number): number {
  return (chance / 2) * shareOf(k);
}

/** Of values between two looks: the share of the smaller one. */
function shareOf(k: number): number {
  return SHARES.get(LOOKS.findLast((look) => look <= k) ?? k) ?? 1;
}

/** Interval of the change, of confidence 1 − level. */
export function changeInterval(reference: Reference, { k, estimate }: RunLook, level: number): Interval {
  const reach = quantile(1 - level, reference.degrees) * reference.scale * deviationOf(reference, k);
  return [estimate[0] - reach, estimate[1] + reach];
}

/** The smallest change of all of `k` values that is found at this one-sided chance of error. */
export function detectableShift(reference: Reference, k: number, chance: number): number {
  return quantile(1 - 2 * chance, reference.degrees) * reference.scale * deviationOf(reference, k);
}

/** Standard deviation of the difference between the mean of `k` values and the center, in scales. */
function deviationOf(reference: Reference, k: number): number {
  return Math.sqrt(1 / k + 1 / reference.n) * dependentDeviation(reference, k);
}

/** Values of the reference that are no part of its scatter, by their place. */
export function outliersOf(reference: Reference, values: readonly KnownInterval[], chance: number): readonly number[] {
  const beyond = quantile(1 - chance, reference.degrees);
  return values.flatMap((value, i) => {
    const up = score(value[0] - reference.center[1], reference.scale);
    const down = score(reference.center[0] - value[1], reference.scale);
    return Math.max(up, down) > beyond ? [i] : [];
  });
}

/** How certain it is that a change for the worse is over: the likelihood of "over" is so many times that of "it lasts". */
const LOG_OF_SURE = 8;
/** The most of it that one value says, however low: none ends a change alone. */
const MAX_LOG_OF_ONE = 5;
/** The largest score of a value there, in scales. */
const RECOVERY_BOUND = 4;

/**
 * From which value on a series that moved up is back, by the likelihood ratio of the reference to the level that the values
 * before had; null while that is not sure. `further`: how many more values like the reference that would take.
 *
 * @param found how many values, from the first of the change, showed it: what follows may end it
 * @param margin the estimate of what is over lies below it
 */
export function recovery(
  reference: Reference,
  values: readonly KnownInterval[],
  found: number,
  margin: number,
): { readonly from: number | null; readonly further: number } {
  const { center, scale } = reference;
  const scores = values.map(([low]) => bounded(score(low - center[1], scale), RECOVERY_BOUND));
  let further = Infinity;
  for (let from = values.length; from >= found; from--) {
    // As little as the change may have been: what is too large a change looks over too soon.
    const level = mean(scores.slice(0, from)) - 1 / Math.sqrt(from);
    if (level <= 0) continue;
    const since = scores.slice(from);
    const sure = since.reduce((sum, value) => sum + Math.min(MAX_LOG_OF_ONE, level * (level / 2 - value)), 0);
    const back = since.length > 0 && estimateOf(values.slice(from), 1, scale) - center[0] < margin;
    if (sure >= LOG_OF_SURE && back) return { from, further: 0 };
    further = Math.min(
      further,
      Math.max(1, Math.ceil((LOG_OF_SURE - Math.max(0, sure)) / Math.min(MAX_LOG_OF_ONE, level ** 2 / 2))),
    );
  }
  return { from: null, further };
}

function bounded(score: number, bound: number): number {
  return Math.max(-bound, Math.min(bound, score));
}

const quantiles = new Map<string, number>();

/** Student's t; a check asks for the same few again and again. */
function quantile(confidence: number, degrees: number): number {
  const key = `${confidence} ${degrees}`;
  const known = quantiles.get(key);
  if (known !== undefined) return known;
  const found = studentT(confidence, degrees);
  if (quantiles.size >= MAX_QUANTILES) quantiles.clear();
  quantiles.set(key, found);
  return found;
}

const MAX_QUANTILES = 1000;

/** Equal values have no scale: any distance is then beyond all scores, and none is not. */
function score(distance: number, scale: number): number {
  return distance === 0 ? 0 : distance / scale;
}

/** The mean of values that are drawn to their median. */
function estimateOf(values: readonly KnownInterval[], end: 0 | 1, scale: number): number {
  const ends = values.map((value) => value[end]);
  if (ends.length < 3) return mean(ends);
  const center = median(ends);
  return center + scale * mean(ends.map((value) => bounded(score(value - center, scale), ESTIMATE_BOUND)));
}

/** Huber's scale around 0 ("proposal 2"), from the median deviation. */
function scaleOf(residuals: readonly number[], degrees: number): number {
  let scale = NORMAL_MAD * median(residuals.map(Math.abs));
  // Most values are equal: what scatter there is comes from the others.
  if (scale === 0) scale = Math.sqrt(residuals.reduce((sum, value) => sum + value ** 2, 0) / degrees);
  if (scale === 0) return 0;
  for (let step = 0; step < 30; step++) {
    const squares = residuals.reduce((sum, value) => sum + bounded(value / scale, INFLUENCE) ** 2, 0);
    scale *= Math.sqrt(squares / (degrees * VARIANCE_WITHIN));
  }
  return scale;
}

function centerOf(values: readonly number[], scale: number): number {
  let center = median(values);
  if (scale === 0) return center;
  for (let step = 0; step < 30; step++) {
    center += (scale * mean(values.map((value) => bounded((value - center) / scale, INFLUENCE)))) / SHARE_WITHIN;
  }
  return center;
}

/** Of a value that is known as an interval; NaN if nothing is known of it. */
export function middle([low, high]: KnownInterval): number {
  return low === high ? low : low + (high - low) / 2;
}
