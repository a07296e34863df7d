import type { FamilyInput, SampleInput } from '../../core/exposition/index.ts';
import type { CapacityFile } from '../../core/run/capacity.ts';
import type { ScenarioState } from '../judge/scenario-state.ts';
import { VERDICTS, type MeasureVerdict } from '../judge/verdict.ts';

/** A metric page must stay readable: runs behind a verdict that are named by a series of their own. */
const MOST_NAMED_RUNS = 20;

/** Imports may have as many scenarios as they have folders. */
export const MOST_SCENARIOS = 1_000;

/**
 * What the judge decided, as state sets: alert rules need no join, and every state that is not the present one is 0. They hold
 * until the next judged run.
 *
 * @param expectedSeconds how often a scenario is expected to complete, by its name; also of scenarios without any run
 */
export function scenarioFamilies(
  states: readonly ScenarioState[],
  expectedSeconds: ReadonlyMap<string, number> = new Map(),
): readonly FamilyInput[] {
  const judged = states.flatMap(({ scenario, newest }) => (newest === null ? [] : [{ scenario, newest }]));
  const measures = judged.flatMap(({ scenario, newest }) => newest.measures.map((measure) => ({ scenario, measure })));
  const families: readonly FamilyInput[] = [
    gauge(
      'llmbench_scenario_verdict',
      'Newest verdict on the scenario: 1 for the current state, 0 for the others.',
      judged.flatMap(({ scenario, newest }) =>
        VERDICTS.map((verdict) => ({ labels: { scenario, verdict }, value: Number(newest.verdict === verdict) })),
      ),
    ),
    gauge(
      'llmbench_scenario_regression_open',
      'Whether a regression is open that neither later runs nor a decision have ended.',
      judged.map(({ scenario }) => ({
        labels: { scenario },
        value: Number(states.some((state) => state.scenario === scenario && state.open !== null)),
      })),
    ),
    gauge(
      'llmbench_scenario_measure_verdict',
      'Newest verdict on a gating measure: 1 for the current state, 0 for the others.',
      measures.flatMap(({ scenario, measure }) =>
        VERDICTS.map((verdict) => ({
          labels: { scenario, ...labelsOf(measure), verdict },
          value: Number(measure.verdict === verdict),
        })),
      ),
    ),
    gauge(
      'llmbench_scenario_effect_ratio',
      'Ratio of the judged runs to the baseline, with the bounds of its interval; absent if not available.',
      measures.flatMap(({ scenario, measure }) =>
        (['low', 'estimate', 'high'] as const).flatMap((bound) => {
          const value = measure.effect?.[bound] ?? null;
          return value === null ? [] : [{ labels: { scenario, ...labelsOf(measure), bound }, value }];
        }),
      ),
    ),
    gauge(
      'llmbench_scenario_margin_ratio',
      'Smallest relevant change of a gating measure, as a ratio above 0.',
      measures.map(({ scenario, measure }) => ({ labels: { scenario, ...labelsOf(measure) }, value: measure.margin })),
    ),
    gauge(
      'llmbench_scenario_baseline_runs',
      'Accepted runs of the scenario.',
      states.map(({ scenario, baseline }) => ({ labels: { scenario }, value: baseline.accepted.length })),
    ),
    gauge(
      'llmbench_scenario_consecutive_undecided_checks',
      'Checks since the last one that was not undecided.',
      judged.map(({ scenario }) => ({
        labels: { scenario },
        value: states.find((state) => state.scenario === scenario)?.undecidedInARow ?? 0,
      })),
    ),
    gauge(
      'llmbench_scenario_last_judged_timestamp_seconds',
      'Unix time at which the scenario was last judged.',
      judged.map(({ scenario, newest }) => ({ labels: { scenario }, value: Date.parse(newest.at) / 1000 })),
    ),
    gauge(
      'llmbench_scenario_judged_run_info',
      'Runs of the open regression, otherwise of the newest verdict.',
      states.flatMap(({ scenario, newest, open }) =>
        ((open ?? newest)?.run_ids ?? [])
          .slice(-MOST_NAMED_RUNS)
          .map((run_id) => ({ labels: { scenario, run_id }, value: 1 })),
      ),
    ),
    gauge(
      'llmbench_scenario_capacity',
      'Largest load at which the objective holds, and smallest at which it fails (run --find): requests in flight (load="concurrency") or requests per second (load="request_rate").',
      states.flatMap(({ scenario, capacities }) => capacities.flatMap((file) => capacitySamples(scenario, file))),
    ),
    gauge(
      'llmbench_scenario_expected_interval_seconds',
      'Expected interval between completed runs of the scenario (serve --expect-scenario).',
      [...expectedSeconds].map(([scenario, value]) => ({ labels: { scenario }, value })),
    ),
  ];
  return families.filter(({ samples }) => samples.length > 0);
}

/** Objectives that were searched together are one series. A bound that is not known is absent. */
function capacitySamples(scenario: string, file: CapacityFile): SampleInput[] {
  const objective = file.objectives.map(({ text }) => text).join(' and ');
  return (['holds', 'fails'] as const).flatMap((bound) => {
    const value = file[bound];
    return value === null ? [] : [{ labels: { scenario, load: file.load, objective, bound }, value }];
  });
}

function gauge(name: string, help: string, samples: readonly SampleInput[]): FamilyInput {
  return { name, help, type: 'gauge', samples };
}

/** Latencies that count from the due time are measures of their own. */
function labelsOf({ measure, stat, clock }: MeasureVerdict): { measure: string; stat: string } {
  const fromDue = clock === 'due' && measure !== 'schedule_delay';
  return { measure: fromDue ? `${measure}_from_due` : measure, stat };
}
