import type { OpenRegression, ScenarioStateName } from './scenarios.ts';
import type { FigureValue, InJson, Judgment, MeasureVerdict } from './verdict.ts';

/** The values behind a verdict, run by run, in the unit of the measure; null where a run has none. */
export interface ComparedValues {
  readonly a: readonly FigureValue[];
  readonly b: readonly FigureValue[];
  /** Medians over the runs of a side, of the runs with a single finite value; null without one. */
  readonly median_a: number | null;
  readonly median_b: number | null;
}

/** The verdict on a statistic with the values that it is about. */
export interface ComparedMeasure extends MeasureVerdict {
  /** The statistic for people, as in the middle of a sentence: `time to first token p50`. */
  readonly title: string;
  readonly values: ComparedValues;
}

/** A judgment with the values that it is about. */
export interface Comparison extends Omit<Judgment, 'measures'> {
  readonly measures: readonly ComparedMeasure[];
  /** The scenarios of each side, each once: two where they differ on purpose. */
  readonly scenarios: { readonly a: readonly string[]; readonly b: readonly string[] };
  /** What the effects of this comparison are, which is not the ratio of the medians; null when there is none. */
  readonly effect_meaning: string | null;
}

/** A signal of the servers that moved in the runs in which a gating measure changed. Not a cause. */
export interface MovedSignal {
  readonly signal: string;
  readonly title: string;
  /** Of both values. */
  readonly unit: string;
  /** The families behind the values of the sides; they differ between systems. */
  readonly family_a: string;
  readonly family_b: string;
  /** Figures that changed and with which it can move, e.g. `time_to_first_token p50`. */
  readonly moved_with: readonly string[];
  /** The same for people, e.g. `time to first token p50`. */
  readonly moved_with_titles: readonly string[];
  /** Medians over the runs. */
  readonly median_a: number;
  readonly median_b: number;
  /** B ÷ A; null when A is 0. */
  readonly ratio: number | null;
  /** Of a shift, in the direction that the rule expects where it names one. */
  readonly p: number;
  /** Benjamini and Hochberg's, over the signals that were compared. */
  readonly q: number;
  /** What to look at next. */
  readonly look_at: string;
}

export interface Explanation {
  /** Those that moved, the clearest first. */
  readonly signals: readonly MovedSignal[];
  /** Signals that are known in all used runs and are not the same in all of them. */
  readonly compared: number;
  /** Runs with exact server metrics; only these are used. */
  readonly runs: { readonly a: number; readonly b: number };
  /** Runs without them, with the reason. */
  readonly not_used: readonly {
    readonly run_id: string;
    readonly problem: 'no_server_metrics' | 'not_exact' | 'unreadable';
  }[];
}

/** A verdict with all that is said of it: what `compare --format json` and the HTTP API print (schemas/comparison.schema.json). */
export interface VerdictReport extends Comparison {
  /** Null when no gating measure changed. */
  readonly explanation: Explanation | null;
  /** The command that would gather what is missing; null when no command does. */
  readonly next_command: string | null;
  /** The judgment against the pinned runs; null when none are pinned, absent where no history was judged. */
  readonly anchor?: Judgment | null;
  /** Where the scenario stands with it, which decides the exit code; absent where no history was judged. */
  readonly state?: ScenarioStateName;
  readonly open_regression?: OpenRegression | null;
  /** Runs that the check has accepted; absent elsewhere. */
  readonly accepted_run_ids?: readonly string[];
}

/** Query parameters of `GET /compare`. */
export interface CompareQuery {
  /** Selectors of runs. */
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly paired?: 'true' | 'false';
  readonly across_scenarios?: 'true' | 'false';
  /** Of runs with stages, the number of the one to compare, from 1. */
  readonly stage?: string;
  readonly gate?: readonly string[];
  readonly margin?: readonly string[];
}

/** `GET /compare`. */
export type CompareResponse = InJson<VerdictReport>;

export type MeasureResponse = CompareResponse['measures'][number];
