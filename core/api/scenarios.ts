import type { Unit } from '../run/statistic.ts';
import type { RunSummary } from './runs.ts';
import type { DamagedRun, ListPage } from './service.ts';
import type {
  EffectRatio,
  FigureKey,
  FigureValue,
  InJson,
  MeasureVerdict,
  VerdictEntry,
  VerdictName,
  VerdictSummary,
} from './verdict.ts';

export const BASELINE_ACTIONS = ['accept', 'drop', 'pin', 'unpin'] as const;

export type BaselineAction = (typeof BASELINE_ACTIONS)[number];

/** What the log keeps besides: that an open regression is known and does not gate, and the change that checks have to see. */
export const LOGGED_ACTIONS = [...BASELINE_ACTIONS, 'acknowledge', 'detect'] as const;

/** A line of `baseline.jsonl` (schemas/baseline.schema.json). */
export interface BaselineEntry {
  readonly schema_version: 1;
  readonly scenario: string;
  /** RFC 3339 in UTC. */
  readonly at: string;
  readonly action: (typeof LOGGED_ACTIONS)[number];
  readonly run_ids: readonly string[];
  /** Who did it; null when it is not known. */
  readonly author: string | null;
  readonly reason: string | null;
  /** Of `accept`: from these runs on another level is normal, by which alone further runs are judged. */
  readonly level?: 'new';
  /** Of `detect`: the change that checks have to see, as a ratio above 0; null: none is set. */
  readonly detect?: number | null;
}

/** `recovered`: the newest check showed that an open regression is over. */
export const SCENARIO_STATES = ['unjudged', 'ok', 'suspect', 'regressed', 'recovered'] as const;

export type ScenarioStateName = (typeof SCENARIO_STATES)[number];

/** A regression that neither later runs nor a decision have ended. */
export interface OpenRegression {
  /** The first run of the regression. */
  readonly since_run_id: string;
  /** RFC 3339: start of that run, or the time of the verdict where the run has no start. */
  readonly since: string;
  /** RFC 3339: when a verdict first said regressed. */
  readonly found_at: string;
  /** Every judged run since the regression began, oldest first. */
  readonly run_ids: readonly string[];
  readonly baseline_run_ids: readonly string[];
  /** The largest change of a gating measure since then; null when none is known. */
  readonly largest: LargestChange | null;
  /** Further runs after which it ends if they look like the baseline; null when that is not known. */
  readonly needs_to_recover: number | null;
  /** A known regression stays recorded and does not gate. */
  readonly acknowledged: Pick<BaselineEntry, 'at' | 'author' | 'reason'> | null;
  readonly sentence: string;
}

export interface LargestChange extends Pick<MeasureVerdict, 'measure' | 'stat' | 'clock'> {
  readonly title: string;
  readonly unit: Unit;
  readonly effect: EffectRatio;
}

/** A run from which on a figure has another level. It annotates the history and never gates. */
export interface HistoryChange extends FigureKey {
  /** The first run of the new level, and the last of the old. */
  readonly run_id: string;
  readonly previous_run_id: string;
  /** New level ÷ old level, by Hodges and Lehmann's estimate; of shares see `EffectRatio`. */
  readonly ratio: number;
  readonly worse: boolean;
  readonly p: number;
  /** Runs of the old and of the new level. */
  readonly runs: { readonly before: number; readonly after: number };
}

/** A scenario is overdue after so many of its expected intervals, as the alert on overdue scenarios has it. */
export const OVERDUE_INTERVALS = 2;

/** Where a scenario stands. */
export interface ScenarioSummary {
  readonly scenario: string;
  /** Finished and running ones. */
  readonly runs: number;
  /** Of its runs, the one with the newest run first. */
  readonly fingerprints: readonly { readonly fingerprint: string; readonly runs: number }[];
  /** RFC 3339; null when no run with a time of its own has completed. */
  readonly last_completed: string | null;
  /** Null when nothing was judged. */
  readonly verdict: VerdictSummary | null;
  readonly state: ScenarioStateName;
  /** The regression that nothing has ended; null without one. */
  readonly open_regression: OpenRegression | null;
  /** Checks since the last one that was not undecided. */
  readonly undecided_checks: number;
  readonly baseline: { readonly accepted: number; readonly pinned: number };
  /** How often it is expected to complete; null when that is not configured. */
  readonly expected_interval_seconds: number | null;
  /** Whether twice the interval has passed since the last completed run, or none has completed; null without an interval. */
  readonly overdue: boolean | null;
}

export type ListedScenario = InJson<ScenarioSummary>;
export type ListedRegression = InJson<OpenRegression>;

/** `GET /scenarios`. */
export interface ScenariosResponse extends ListPage {
  readonly scenarios: readonly ListedScenario[];
}

/** Query parameters of `GET /scenarios/{name}`. */
export interface ScenarioQuery {
  readonly gate?: readonly string[];
  readonly margin?: readonly string[];
  readonly limit?: number;
}

/** A completed run of a scenario with the values that gate. */
export interface ScenarioRun extends Pick<
  RunSummary,
  'run_id' | 'start' | 'end' | 'fingerprint' | 'model' | 'system' | 'system_version' | 'tool' | 'tool_version' | 'tags'
> {
  readonly verdict: VerdictName | null;
  readonly accepted: boolean;
  readonly pinned: boolean;
  /** One for each of the measures; null if the run has none. */
  readonly values: readonly ({
    readonly value: FigureValue;
    readonly ci95: readonly [low: number, high: number] | null;
    readonly n: number | null;
  } | null)[];
}

/** The history of a scenario; lists that are limited have the newest first. */
export interface ScenarioDetails {
  readonly summary: ScenarioSummary;
  readonly baseline: {
    readonly accepted: readonly string[];
    /** With which a check compares a further run of the newest configuration. */
    readonly used: readonly string[];
    readonly pinned: readonly string[];
    readonly dropped: readonly string[];
    readonly entries: readonly BaselineEntry[];
    readonly total_entries: number;
    readonly damaged_lines: readonly number[];
  };
  readonly verdicts: readonly TitledVerdict[];
  readonly total_verdicts: number;
  readonly damaged_verdict_lines: readonly number[];
  readonly measures: readonly (FigureKey & { readonly title: string; readonly margin: number })[];
  readonly runs: readonly ScenarioRun[];
  readonly total_runs: number;
  readonly unreadable_runs: readonly DamagedRun[];
  /** The ratio is null where it is infinite. */
  readonly change_points: readonly (Omit<HistoryChange, 'ratio'> & { readonly ratio: number | null })[];
}

/** With the names of its measures for people. */
export interface TitledVerdict extends Omit<VerdictEntry, 'measures'> {
  readonly measures: readonly (MeasureVerdict & { readonly title: string })[];
}

/** `GET /scenarios/{name}`. */
export type ScenarioResponse = InJson<ScenarioDetails>;
export type VerdictResponse = ScenarioResponse['verdicts'][number];

/** Body of `POST /scenarios/{name}/baseline`. */
export interface BaselineChange {
  readonly action: BaselineAction;
  readonly run_ids: readonly string[];
  readonly reason: string;
  readonly author: string;
}

/** The baseline after a change. */
export interface ChangedBaseline {
  readonly scenario: string;
  readonly accepted: readonly string[];
  readonly pinned: readonly string[];
  readonly dropped: readonly string[];
}
