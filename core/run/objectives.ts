import type { Unit } from './statistic.ts';
import type { PercentileName } from '../stats/percentiles.ts';

/** What a run has to meet; it is in no fingerprint, because it changes nothing of what is measured. */
export interface Gates {
  /** What every measure of a request must keep for the request to be good. */
  readonly goodput: readonly GoodputLimit[];
  /** What statistics of the run must keep. */
  readonly slos: readonly Slo[];
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

export const SLO_STATS = ['mean', 'min', 'max', 'std'] as const;
export type SloStat = PercentileName | (typeof SLO_STATS)[number];

/** A statistic of a run and its limit. */
export interface Slo {
  /** A measure that counts from the due time has `_from_due` at its end. */
  readonly measure: string;
  /** Null for a measure that is one number. */
  readonly stat: SloStat | null;
  readonly comparison: ComparisonOperator;
  /** In the unit. */
  readonly limit: number;
  readonly unit: Unit;
}

export interface SloResult extends Slo {
  /** Null when it is not available. */
  readonly value: number | null;
  /** What sampling (or, with a great many values, buckets) leaves open; null when there is none. */
  readonly interval: readonly [low: number, high: number] | null;
  readonly verdict: 'met' | 'not_met' | 'undecided';
  /** The evidence in one line when it is not simply the interval. */
  readonly why: string | null;
}
