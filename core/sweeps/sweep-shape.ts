import type { LoadNumber } from '../run/load.ts';
import type { GoodputLimit, Objective, ObjectiveVerdict } from '../run/objectives.ts';
import type { RequestCounts } from '../run/record.ts';
import type { ResultFile } from '../run/result.ts';
import type { SweepFigure } from './sweep-figures.ts';

/** What the runs of a curve have in common; null where it is unknown. */
export interface SweepIdentity {
  readonly scenario: string;
  readonly model: string | null;
  readonly endpoint_type: string | null;
  readonly system: string | null;
  readonly system_version: string | null;
  readonly origin: string | null;
  readonly tool: string;
  readonly tool_version: string | null;
  readonly dataset: string | null;
}

/** A figure over the repeats of a step, in base units. */
export interface StepValue {
  /** Mean of the values of the repeats: of a percentile, the mean of the repeats' percentiles. */
  readonly mean: number;
  /** Over the repeats; with a percentile from buckets, its bounds. */
  readonly min: number;
  readonly max: number;
  /** Completed runs that have the figure. */
  readonly n: number;
}

/** How many repeats met an objective. */
export interface StepObjective extends Objective {
  readonly met: number;
  readonly not_met: number;
  readonly undecided: number;
}

/** A run of a step. */
interface StepRun {
  readonly run_id: string;
  readonly start: string | null;
  readonly end: string | null;
  readonly status: ResultFile['status'];
}

/** One load of a sweep. */
export interface SweepStep {
  readonly load: number;
  /** All its runs, the oldest first; values are of the completed ones. */
  readonly runs: readonly StepRun[];
  /** Sums over the completed runs; null where one of them does not report it. */
  readonly requests: RequestCounts;
  readonly values: Readonly<Record<SweepFigure, StepValue | null>>;
  readonly slos: readonly StepObjective[];
  /** Whether every objective is met in every completed run; null without objectives. */
  readonly objective: ObjectiveVerdict | null;
}

/** The range in which the largest load within the objective lies. */
export interface LoadWithinObjective {
  /** Largest load at which the objective is met, below every load at which it is not; null: there is none. */
  readonly holds: number | null;
  /** Smallest load at which it is not met; null: there is none. */
  readonly fails: number | null;
  /** False if it is met again at a larger load than one at which it is not. */
  readonly monotonic: boolean;
  /** Of both bounds together, 0 to 1, if a search (`run --find`) found and confirmed them; else absent. */
  readonly confidence?: number;
}

/** Where the runs of a sweep were found: performed together, or repeated under one name. */
export interface SweepSource {
  readonly kind: 'group' | 'scenario';
  readonly name: string;
}

/** The load from which throughput grows less than in proportion. */
export interface Knee {
  readonly method: 'kneedle';
  /** The throughput over the load that it is of. */
  readonly figure: 'output_token_throughput' | 'request_throughput';
  readonly load: number;
}

/** Runs that differ in nothing but their load. */
export interface Sweep extends SweepIdentity {
  readonly source: SweepSource;
  readonly load_mode: LoadNumber['mode'];
  /** Of the first and of the last run. */
  readonly start: string | null;
  readonly end: string | null;
  /** GPUs that the servers' metrics reported in every run; null: unknown, or not the same in all runs. */
  readonly gpus: number | null;
  readonly goodput_limits: readonly GoodputLimit[];
  /** By ascending load. */
  readonly steps: readonly SweepStep[];
  /** Null: the steps do not show one. */
  readonly knee: Knee | null;
  /** Null: no run has an objective. */
  readonly within_objective: LoadWithinObjective | null;
}

/** A sweep without the values of its steps. */
export type SweepSummary<S extends Sweep = Sweep> = Omit<S, 'steps' | 'goodput_limits'> & {
  /** Ascending. */
  readonly loads: number[];
  readonly runs: number;
  readonly has_objectives: boolean;
  readonly has_goodput: boolean;
};

/** What a list of sweeps shows. */
export function sweepSummary<S extends Sweep>({ steps, goodput_limits, ...sweep }: S): SweepSummary<S> {
  return {
    ...sweep,
    loads: steps.map(({ load }) => load),
    runs: steps.reduce((sum, step) => sum + step.runs.length, 0),
    has_objectives: steps.some(({ objective }) => objective !== null),
    has_goodput: goodput_limits.length > 0,
  };
}
