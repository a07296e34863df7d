import type { Unit } from './statistic.ts';
import type { PercentileName } from '../stats/percentiles.ts';

/** What a run has to meet; it is in no fingerprint, because it changes nothing of what is measured. */
export interface Objectives {
  /** What every measure of a request must keep for the request to be good. */
  readonly goodput: readonly GoodputLimit[];
  /** What statistics of the run must keep. */
  readonly slos: readonly Objective[];
}

/** At most so much of a measure that is better when lower, at least so much of one that is better when higher. */
export interface GoodputLimit {
  readonly measure: string;
  /** In the unit. */
  readonly limit: number;
  readonly unit: Unit;
}

export const COMPARISON_OPERATORS = ['<', '<=', '>', '>='] as const;
export type ComparisonOperator = (typeof COMPARISON_OPERATORS)[number];

export const OBJECTIVE_STATS = ['mean', 'min', 'max', 'std'] as const;
export type ObjectiveStat = PercentileName | (typeof OBJECTIVE_STATS)[number];

/** A statistic of a run and its limit. */
export interface Objective {
  /** As it is published: `_from_due` at its end if it counts from the due time, `{turn=first}` if it is of a part. */
  readonly measure: string;
  /** Null for a measure that is one number. */
  readonly stat: ObjectiveStat | null;
  readonly comparison: ComparisonOperator;
  /** In the unit. */
  readonly limit: number;
  readonly unit: Unit;
}

export type ObjectiveVerdict = 'met' | 'not_met' | 'undecided';

export const VERDICTS_WORST_FIRST: readonly ObjectiveVerdict[] = ['not_met', 'undecided', 'met'];

/** What can be said of all objectives of a run or a stage together; null when nothing was requested. */
export function worstVerdict(results: readonly Pick<ObjectiveResult, 'verdict'>[]): ObjectiveVerdict | null {
  return VERDICTS_WORST_FIRST.find((verdict) => results.some((result) => result.verdict === verdict)) ?? null;
}

export interface ObjectiveResult extends Objective {
  /** Null when it is not available. */
  readonly value: number | null;
  /** What sampling (or, with a great many values, buckets) leaves open; null when there is none. */
  readonly interval: readonly [low: number, high: number] | null;
  readonly verdict: ObjectiveVerdict;
  /** The evidence in one line when it is not simply the interval. */
  readonly why: string | null;
}
