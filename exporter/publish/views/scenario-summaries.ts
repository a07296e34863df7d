import { OVERDUE_INTERVALS, type ScenarioSummary } from '../../../core/api/scenarios.ts';
import type { VerdictSummary } from '../../../core/api/verdict.ts';
import type { ScenarioState } from '../../judge/scenario-state.ts';
import { verdictSummary } from '../../judge/verdict-log.ts';
import { lastCompleted } from '../scenario-families.ts';
import type { RunSummary } from '../../../core/api/runs.ts';

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
