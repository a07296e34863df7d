import type { Direction } from '../measures/measures.ts';
import type { Clock, Unit } from '../run/statistic.ts';
import type { PercentileName } from '../stats/percentiles.ts';

export type Stat = 'mean' | PercentileName | 'value';

/** Which statistic of which measure; two figures are compared only when all of it is equal. */
export interface FigureKey {
  /** A name of `core/measures`, or of a server's family. */
  readonly measure: string;
  /** `value` for a measure that is one number. */
  readonly stat: Stat;
  readonly unit: Unit;
  readonly definition: string;
  readonly origin: 'client' | 'server';
  /** ok requests, or all with the failed ones counted as infinitely slow. */
  readonly population: 'ok' | 'all';
  /** Which of the run's requests, by a dimension of the load, such as `turn=first`; absent: all. */
  readonly breakdown?: string;
  readonly clock: Clock;
  /** Which way is better; figures without a direction describe the load and are not judged. */
  readonly direction: Direction;
}

/** In the unit; [low, high] when buckets leave it open; Infinity is possible in population `all`. Null when it is not available. */
export type FigureValue = number | readonly [low: number, high: number] | null;

/** A value as JSON has it: null for an infinite bound of an effect or of an interval. */
export type InJson<T> = T extends EffectRatio | readonly [number, number]
  ? { readonly [K in keyof T]: number | null }
  : T extends object
    ? { readonly [K in keyof T]: InJson<T[K]> }
    : T;

/** `suspect`: the newest run alone is worse than the history, and further runs have to confirm it. */
export const VERDICTS = ['regressed', 'improved', 'unchanged', 'suspect', 'undecided'] as const;
export type VerdictName = (typeof VERDICTS)[number];

/** Which test decided. The `normal` ones are approximations for samples too large to count every arrangement. */
export type Method =
  | 'signed_rank_exact'
  | 'signed_rank_normal'
  | 'rank_sum_exact'
  | 'rank_sum_normal'
  /** The last runs after a history, by scores of a robust center and scale, on logarithms. */
  | 'robust_shift';

export const REASONS = [
  /** The evidence suffices. */
  'decided',
  /** Runs are not comparable; see `preflight`. */
  'preflight',
  /** Fewer runs or pairs than any result could decide with. */
  'too_few_runs',
  /** The interval holds both no change and a change of at least the margin. */
  'wide_interval',
  /** Significant, yet neither as large as the margin nor certainly smaller. */
  'near_margin',
  /** Worse than the history: to be confirmed by further runs. */
  'unconfirmed_regression',
  /** Better than the history: to be confirmed by further runs. */
  'unconfirmed_improvement',
  /** The interval excludes no change, but not after the control for several measures. */
  'multiple_measures',
  /** The runs of the sets follow each other in time, and a trend or a dependence of the runs could be the change. */
  'time_order',
  /** Slices of servers resemble those before them, and their differences could be no more than that. */
  'dependent_slices',
  /** Buckets leave open what the runs would decide. */
  'buckets',
  /** Better among ok requests, but not when failed ones count as infinitely slow. */
  'failures',
  /** Some runs have no value. */
  'missing_values',
  /** The percentile rests on too few effective values in some run. */
  'few_values',
  /** Values of 0 or infinity leave the ratio open. */
  'unbounded',
  /** Nothing that gates is there to be judged. */
  'no_measures',
] as const;
export type Reason = (typeof REASONS)[number];

/** What would decide, for the caller to word as a command. */
export type Needs =
  /** Compare in interleaved pairs; so many in all, of which `further` are still to be made. */
  | { readonly design: 'pairs'; readonly pairs: number; readonly further: number }
  /** So many further runs of each set. */
  | { readonly design: 'sets'; readonly furtherA: number; readonly furtherB: number }
  /** So many further runs of the same plan, judged with those that are there. */
  | { readonly design: 'confirm'; readonly further: number }
  /** So many further accepted runs in the baseline. */
  | { readonly design: 'baseline'; readonly further: number }
  /** Finer buckets (or records), that resolve this effect. */
  | { readonly design: 'buckets'; readonly effect: number }
  /** Longer runs: at least so many times the requests. */
  | { readonly design: 'requests'; readonly times: number };

/**
 * A ratio B ÷ A: 1.1 is 10 % more. Of `error_ratio` and `stall_ratio` it is the ratio of the shares that remain (1 −
 * value). May be 0 or Infinity, the ends of an interval that the runs leave open; JSON has null for Infinity.
 */
export interface EffectRatio {
  readonly low: number;
  readonly estimate: number;
  readonly high: number;
}

/** The judgment on one statistic of one measure. */
export interface MeasureVerdict extends FigureKey {
  /** Whether it is one of the primary measures, which alone decide the overall verdict. */
  readonly gating: boolean;
  readonly verdict: VerdictName;
  readonly reason: Reason;
  /** One sentence of plain English with the evidence. */
  readonly sentence: string;
  /** Null when there is nothing to compare. */
  readonly effect: EffectRatio | null;
  /** Confidence of the interval, 0 to 1: it is wider when several measures gate. */
  readonly confidence: number | null;
  readonly method: Method | null;
  /** Runs on each side that have a value; pairs have as many on both. */
  readonly runs: { readonly a: number; readonly b: number };
  /** The smallest change that matters, as a ratio above 0: 0.05 is 5 %. */
  readonly margin: number;
  /**
   * The smallest estimated change for the worse that would have been called regressed with these runs and their scatter, as
   * a ratio above 0; at least the margin. Null: no change could have been, there are too few runs.
   */
  readonly detectable: number | null;
  readonly p: PValue | null;
  readonly needs: Needs | null;
}

export interface PValue {
  /** Two-sided. */
  readonly raw: number;
  readonly adjusted: number;
  /** Holm over the gating measures; Benjamini and Hochberg's q over the others; none in lines of earlier versions. */
  readonly adjustment: 'holm' | 'benjamini_hochberg' | 'none';
}

export const PREFLIGHT_CHECKS = [
  'missing_shards',
  'scenario',
  'fingerprint',
  'input_tokens',
  'output_tokens',
  'cached_input_ratio',
  'request_rate',
  'client',
  'foreign_traffic',
  'time_order',
  'earlier_days',
] as const;

/** Relative difference of a mean or a rate above which the load is another one: well below the margins of the measures. */
export const LOAD_TOLERANCE = 0.02;

/** Something that has to hold before runs can be compared, and does not, or is not known to. */
export interface PreflightFinding {
  readonly check: (typeof PREFLIGHT_CHECKS)[number];
  /** Only `failed` makes the verdict undecided; `accepted` is a difference on purpose. */
  readonly outcome: 'failed' | 'unknown' | 'accepted';
  readonly run_ids: readonly string[];
  readonly sentence: string;
}

/** How the runs were compared. */
export type Design = 'pairs' | 'sets' | 'history';

/** The judgment on a comparison. */
export interface Judgment {
  readonly design: Design;
  readonly scenario: string;
  /**
   * The worst of the gating measures: regressed if any is; else suspect if any is; else undecided if any is; else improved if
   * any is; else unchanged.
   */
  readonly verdict: VerdictName;
  readonly reason: Reason;
  readonly sentence: string;
  /** Ids of the runs that were compared; `a` is the baseline. */
  readonly runs: { readonly a: readonly string[]; readonly b: readonly string[] };
  /** The run that raised a suspicion and was left out of its own confirmation; null otherwise. */
  readonly left_out: string | null;
  readonly preflight: readonly PreflightFinding[];
  /** Gating ones first, in the order in which they were given. */
  readonly measures: readonly MeasureVerdict[];
  readonly needs: Needs | null;
}

/** A line of `verdicts.jsonl` (schemas/verdict.schema.json): what `check` decided, with the evidence of what gates. */
export interface VerdictEntry {
  readonly schema_version: 1;
  readonly scenario: string;
  /** Absent: judged against the history of the scenario. */
  readonly design?: 'pairs';
  /** RFC 3339 in UTC. */
  readonly at: string;
  readonly verdict: VerdictName;
  readonly reason: Reason;
  readonly sentence: string;
  readonly needs: Needs | null;
  readonly fingerprint: string;
  /** The judged runs, by start. */
  readonly run_ids: readonly string[];
  /** The runs that they were judged against. */
  readonly baseline_run_ids: readonly string[];
  /** The run that raised a suspicion and was left out of its own confirmation; null otherwise. */
  readonly left_out: string | null;
  /** The verdict against the pinned runs; null when none are pinned. */
  readonly anchor_verdict: VerdictName | null;
  /** Start of the first judged run; null when it has none, absent in lines of earlier versions. */
  readonly first_start?: string | null;
  /** Whether the runs since an open regression show that it is over; absent in lines of earlier versions. */
  readonly recovered?: boolean;
  /** Further runs after which it ends if they look like the baseline; null without an open regression. */
  readonly needs_to_recover?: number | null;
  /** The largest of the changes that would have been seen in each gating measure, as a ratio above 0; null: nothing would have been. */
  readonly detectable?: number | null;
  /** Whether the check could not see what it has to: the change that the scenario asks for, or any at all. */
  readonly blind?: boolean;
  /** The gating measures, of the judgment that led to the verdict. JSON has null for an infinite effect. */
  readonly measures: readonly MeasureVerdict[];
  readonly author: string | null;
}

/** A verdict in short: without the evidence per measure. */
export type VerdictSummary = Pick<
  VerdictEntry,
  'verdict' | 'reason' | 'sentence' | 'at' | 'run_ids' | 'baseline_run_ids' | 'left_out'
>;
