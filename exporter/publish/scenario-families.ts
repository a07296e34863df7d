import type { RunSummary } from '../../core/api/runs.ts';
import { VERDICTS, type MeasureVerdict } from '../../core/api/verdict.ts';
import type { FamilyInput, SampleInput } from '../../core/exposition/index.ts';
import { publishedName } from '../../core/measures/names.ts';
import type { CapacityFile } from '../../core/run/capacity.ts';
import { gates, type ScenarioState } from '../judge/scenario-state.ts';

/** A metric page must stay readable: runs of an open regression, or of a verdict, that are named by a series of their own. */
const MAX_NAMED_RUNS = 100;

/** Imports may have as many scenarios as they have folders. */
export const MAX_SCENARIOS = 1_000;

/**
 * What the judge decided, as state sets: alert rules need no join, and every state that is not the present one is 0. They hold
 * until the next judged run. While a regression is open, its largest change stays, whatever the newest check could decide.
 *
 * @param expectedSeconds how often a scenario is expected to complete, by its name; also of scenarios without any run
 */
export function scenarioFamilies(
  states: readonly ScenarioState[],
  expectedSeconds: ReadonlyMap<string, number> = new Map(),
): readonly FamilyInput[] {
  const judged = states.flatMap(({ newest, ...state }) => (newest === null ? [] : [{ ...state, newest }]));
  const open = states.flatMap((state) => (state.open === null ? [] : [{ scenario: state.scenario, ...state.open }]));
  const measures = states.flatMap((state) => measuresOf(state).map((each) => ({ scenario: state.scenario, ...each })));
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
      'Whether a regression is open: 1 from the verdict that finds it until later runs or a decision end it.',
      judged.map(({ scenario, open: regression }) => ({ labels: { scenario }, value: Number(regression !== null) })),
    ),
    gauge(
      'llmbench_scenario_regression_acknowledged',
      'Whether somebody has acknowledged the open regression (llmbench regression acknowledge): it stays open and does not gate.',
      judged.map(({ scenario, open: regression }) => ({
        labels: { scenario },
        value: Number(regression !== null && !gates(regression)),
      })),
    ),
    gauge(
      'llmbench_scenario_regression_open_since_timestamp_seconds',
      'Unix time of the first run of the open regression.',
      open.map(({ scenario, since }) => ({ labels: { scenario }, value: Date.parse(since) / 1000 })),
    ),
    gauge(
      'llmbench_scenario_measure_verdict',
      'Newest verdict on a gating measure: 1 for the current state, 0 for the others. The largest change of an open regression stays regressed.',
      measures.flatMap(({ scenario, labels, verdict: current }) =>
        VERDICTS.map((verdict) => ({
          labels: { scenario, ...labels, verdict },
          value: Number(current === verdict),
        })),
      ),
    ),
    gauge(
      'llmbench_scenario_effect_ratio',
      'Ratio of the judged runs to the baseline, with the bounds of its interval; absent if not available. The largest change of an open regression stays.',
      measures.flatMap(({ scenario, labels, effect }) =>
        (['low', 'estimate', 'high'] as const).flatMap((bound) => {
          const value = effect?.[bound] ?? null;
          return value === null ? [] : [{ labels: { scenario, ...labels, bound }, value }];
        }),
      ),
    ),
    gauge(
      'llmbench_scenario_margin_ratio',
      'Smallest relevant change of a gating measure, as a ratio above 0.',
      measures.flatMap(({ scenario, labels, margin }) =>
        margin === null ? [] : [{ labels: { scenario, ...labels }, value: margin }],
      ),
    ),
    gauge(
      'llmbench_scenario_baseline_runs',
      'Accepted runs of the scenario.',
      states.map(({ scenario, baseline }) => ({ labels: { scenario }, value: baseline.accepted.length })),
    ),
    gauge(
      'llmbench_scenario_consecutive_undecided_checks',
      'Checks since the last one that was not undecided.',
      judged.map(({ scenario, undecidedInARow }) => ({ labels: { scenario }, value: undecidedInARow })),
    ),
    gauge(
      'llmbench_scenario_last_judged_timestamp_seconds',
      'Unix time at which the scenario was last judged.',
      judged.map(({ scenario, newest }) => ({ labels: { scenario }, value: Date.parse(newest.at) / 1000 })),
    ),
    gauge(
      'llmbench_scenario_judged_run_info',
      'Judged runs since the open regression began, at most the last 100; without one the runs of the newest verdict.',
      states.flatMap(({ scenario, newest, open: regression }) =>
        ((regression ?? newest)?.run_ids ?? [])
          .slice(-MAX_NAMED_RUNS)
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

interface ShownMeasure extends Pick<MeasureVerdict, 'verdict' | 'effect'> {
  readonly labels: { readonly measure: string; readonly stat: string };
  readonly margin: number | null;
}

/** The gating measures of the newest verdict, and the largest change of an open regression as it was found. */
function measuresOf({ newest, open }: ScenarioState): readonly ShownMeasure[] {
  const shown = (newest?.measures ?? []).map((measure): ShownMeasure => ({ ...measure, labels: labelsOf(measure) }));
  const largest = open?.largest ?? null;
  if (largest === null) return shown;
  const labels = labelsOf(largest);
  const isIt = (each: ShownMeasure): boolean =>
    each.labels.measure === labels.measure && each.labels.stat === labels.stat;
  const kept = {
    labels,
    verdict: 'regressed',
    effect: largest.effect,
    margin: shown.find(isIt)?.margin ?? null,
  } as const;
  return shown.some(isIt) ? shown.map((each) => (isIt(each) ? kept : each)) : [...shown, kept];
}

function labelsOf(key: Pick<MeasureVerdict, 'measure' | 'stat' | 'clock'>): ShownMeasure['labels'] {
  return { measure: publishedName(key), stat: key.stat };
}

/** When the newest completed run of each scenario ended, in Unix seconds by its name. */
export function lastCompletedFamily(seconds: Iterable<readonly [scenario: string, seconds: number]>): FamilyInput {
  return {
    name: 'llmbench_scenario_last_completed_timestamp_seconds',
    help: 'Unix time at which the newest completed run of the scenario ended.',
    type: 'gauge',
    samples: [...seconds].map(([scenario, value]) => ({ labels: { scenario }, value })),
  };
}

/**
 * When the newest completed run of each scenario ended, in Unix seconds. A run without a time of its own says nothing of when
 * its scenario was last completed.
 */
export function lastCompleted(runs: readonly RunSummary[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>();
  for (const { status, scenario, start, end } of runs) {
    if (status !== 'completed' || start === null || end === null) continue;
    latest.set(scenario, Math.max(latest.get(scenario) ?? -Infinity, Date.parse(end) / 1000));
  }
  return latest;
}
