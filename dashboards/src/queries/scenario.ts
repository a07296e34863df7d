import type { Query } from '../target.ts';

/** Scenarios that the viewer has chosen. */
const SELECTED = 'scenario=~"$scenario"';
/** The exporter's verdicts from worst to best: a verdict's place, from 1, is its value in a timeline. */
export const VERDICTS = ['regressed', 'suspect', 'undecided', 'unchanged', 'improved'] as const;

/** The verdict at each time as one number: of a state set exactly one series is 1. */
function verdicts(family: string, by: string, over = (series: string): string => series): string {
  return VERDICTS.map(
    (verdict, index) => `${index + 1} * max by (${by}) (${over(`${family}{${SELECTED},verdict="${verdict}"}`)})`,
  ).join(' + ');
}

export const VERDICT = verdicts('llmbench_scenario_verdict', 'scenario');
export const MEASURE_VERDICT = verdicts('llmbench_scenario_measure_verdict', 'scenario, measure, stat');

/** The place after the last verdict: of scenarios without any. */
export const NOT_JUDGED = VERDICTS.length + 1;
/** Scenarios with an effect in the time range, the worst verdict first: what is repeated for each of them has data. */
export const JUDGED = `sort((${verdicts('llmbench_scenario_verdict', 'scenario', inRange)}) and on (scenario) ${inRange('llmbench_scenario_effect_ratio')})`;

function inRange(series: string): string {
  return `last_over_time(${series}[$__range])`;
}

function newest(family: string): string {
  return `max by (scenario) (${family}{${SELECTED}})`;
}

export const BASELINE_RUNS = newest('llmbench_scenario_baseline_runs');
export const UNDECIDED_CHECKS = newest('llmbench_scenario_consecutive_undecided_checks');
/** Grafana counts times in milliseconds. */
export const REGRESSED_SINCE = `1000 * ${newest('llmbench_scenario_regression_open_since_timestamp_seconds')}`;
export const LAST_JUDGED = `1000 * ${newest('llmbench_scenario_last_judged_timestamp_seconds')}`;
const LAST_COMPLETED_SECONDS = newest('llmbench_scenario_last_completed_timestamp_seconds');
export const LAST_COMPLETED = `1000 * ${LAST_COMPLETED_SECONDS}`;
export const EXPECTED_INTERVAL = newest('llmbench_scenario_expected_interval_seconds');

/** 0: in time, 1: overdue, as the alert has it, 2: no run was ever completed. */
export const OVERDUE: readonly Query[] = [
  {
    expr: `time() - ${LAST_COMPLETED_SECONDS} > bool 2 * ${EXPECTED_INTERVAL}`,
    legend: '{{scenario}}',
  },
  { expr: `2 + 0 * ${EXPECTED_INTERVAL} unless ${LAST_COMPLETED_SECONDS}`, legend: '{{scenario}}' },
];

/** The verdict of every scenario that the exporter knows. */
export const STATE = `${VERDICT} or ${NOT_JUDGED} + 0 * ${LAST_COMPLETED_SECONDS} or ${NOT_JUDGED} + 0 * ${EXPECTED_INTERVAL}`;

const OF_MEASURE = 'scenario, measure, stat';

/** The change against the baseline: 0.1 is 10 % more. In a repeated panel it is of that scenario. */
export function effect(bound: 'low' | 'estimate' | 'high', scenario = SELECTED): string {
  return `max by (${OF_MEASURE}) (llmbench_scenario_effect_ratio{${scenario},bound="${bound}"}) - 1`;
}

export const MARGIN = `max by (${OF_MEASURE}) (llmbench_scenario_margin_ratio{${SELECTED}})`;

/** Of those that the exporter publishes; 0 of a scenario that has completed some run and none on that day. */
export const RUNS_OF_THE_DAY: Query = {
  expr:
    'count by (scenario) ((time() - max by (run_id) (llmbench_run_end_timestamp_seconds) < 86400) ' +
    `* on (run_id) group_left (scenario) max by (run_id, scenario) (llmbench_run_info{${SELECTED}})) ` +
    `or 0 * ${LAST_COMPLETED_SECONDS}`,
  legend: '{{scenario}}',
};
