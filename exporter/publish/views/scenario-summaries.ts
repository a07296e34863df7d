import type { OpenRegression, ScenarioState, ScenarioStateName } from '../../judge/scenario-state.ts';
import { verdictSummary, type VerdictSummary } from '../../judge/verdict-summary.ts';
import { lastCompleted } from './last-completed.ts';
import type { RunSummary } from './run-summary.ts';

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

/** As the alert on overdue scenarios has it. */
const OVERDUE_INTERVALS = 2;

/**
 * Every scenario with a run, a baseline, a verdict or an expected interval, the one with the newest run first.
 *
 * @param runs newest first
 * @param expectedSeconds how often a scenario is expected to complete, by its name
 */
export function scenarioSummaries(
  runs: readonly RunSummary[],
  states: readonly ScenarioState[],
  expectedSeconds: ReadonlyMap<string, number>,
  now: Date,
): readonly ScenarioSummary[] {
  const byScenario = Map.groupBy(runs, ({ scenario }) => scenario);
  const stateOf = new Map(states.map((state) => [state.scenario, state]));
  const completed = lastCompleted(runs);
  const names = new Set([...byScenario.keys(), ...stateOf.keys(), ...expectedSeconds.keys()]);
  return [...names].map((scenario) => {
    const own = byScenario.get(scenario) ?? [];
    const state = stateOf.get(scenario);
    const last = completed.get(scenario) ?? null;
    const interval = expectedSeconds.get(scenario) ?? null;
    const ago = last === null ? Infinity : now.getTime() / 1000 - last;
    return {
      scenario,
      runs: own.length,
      fingerprints: fingerprintsOf(own),
      last_completed: last === null ? null : new Date(last * 1000).toISOString(),
      verdict: summaryOf(state?.newest),
      state: state?.state ?? 'unjudged',
      open_regression: state?.open ?? null,
      undecided_checks: state?.undecidedInARow ?? 0,
      baseline: { accepted: state?.baseline.accepted.length ?? 0, pinned: state?.baseline.pinned.length ?? 0 },
      expected_interval_seconds: interval,
      overdue: interval === null ? null : ago > OVERDUE_INTERVALS * interval,
    };
  });
}

function fingerprintsOf(runs: readonly RunSummary[]): ScenarioSummary['fingerprints'] {
  return [...Map.groupBy(runs, ({ fingerprint }) => fingerprint)].map(([fingerprint, alike]) => ({
    fingerprint,
    runs: alike.length,
  }));
}

function summaryOf(entry: ScenarioState['newest'] | undefined): VerdictSummary | null {
  return entry === null || entry === undefined ? null : verdictSummary(entry);
}
