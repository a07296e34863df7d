import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { baseDashboard } from './base-dashboard.ts';
import { alertList } from './panels/alert-list.ts';
import { joinedTable } from './panels/table.ts';
import { withRow } from './panels/row.ts';
import { stateMappings, stateTimeline, type State } from './panels/state-timeline.ts';
import { timeseries } from './panels/timeseries.ts';
import * as scenario from './queries/scenario.ts';
import { datasourceVariable, judgedVariable, scenarioVariable, shortestStepVariable } from './variables.ts';

const COLORS: Readonly<Record<(typeof scenario.VERDICTS)[number], string>> = {
  regressed: 'red',
  suspect: 'orange',
  undecided: 'yellow',
  unchanged: 'green',
  improved: 'blue',
};
/** The verdicts of a timeline. */
export const VERDICT_STATES: readonly State[] = scenario.VERDICTS.map((text, index) => ({
  value: index + 1,
  text,
  color: COLORS[text],
}));
/** Texts of a table, which also has scenarios without a verdict, after all others. */
export const STATES = stateMappings([
  ...VERDICT_STATES,
  { value: scenario.NOT_JUDGED, text: 'not judged', color: 'text' },
]);
const PUNCTUALITY: readonly State[] = [
  { value: 0, text: 'in time', color: 'green' },
  { value: 1, text: 'overdue', color: 'red' },
  { value: 2, text: 'never completed', color: 'orange' },
];

/** Of a panel about verdicts that is empty. */
export const NOT_JUDGED_TEXT =
  'Nothing was judged: run `llmbench check --scenario NAME`, and let Prometheus scrape `llmbench serve` (port 9469).';
/** Of a timeline: its points are at multiples of their distance, the last one in the past. */
const NO_VERDICT_AT_A_POINT =
  'No verdict at a point of this timeline: of a month, points are about an hour apart. See a new verdict in the table, or in a ' +
  'shorter time range. To judge runs: `llmbench check --scenario NAME`.';
const NOTHING_EXPECTED =
  'No scenario is expected: start `llmbench serve --expect-scenario NAME=24h` (port 9469) and let Prometheus scrape it.';
const NO_EFFECT =
  'No effect: the newest checks had too few runs, or runs that are not comparable. See the verdicts above.';
const ABOUT_VERDICTS =
  'regressed: worse by at least the margin, on enough evidence. suspect: not yet confirmed. undecided: the evidence is not sufficient. A verdict holds until the next check.';

const COLORED = { id: 'custom.cellOptions', value: { type: 'color-text' } };
const state = (states: readonly State[]) => [{ id: 'mappings', value: stateMappings(states) }, COLORED];

const percent = [{ id: 'unit', value: 'percentunit' }];

/** What regressed, since when, and what fires: one screen. */
function current() {
  return [
    joinedTable({
      id: 11,
      width: 24,
      height: 8,
      title: 'Scenarios',
      description: `The newest verdict of each scenario and what it rests on. Regressed since: start of the first run of a regression that later runs or a decision have not ended. ${ABOUT_VERDICTS}`,
      noValue: NOT_JUDGED_TEXT,
      sortBy: 'Verdict',
      rowsOf: 'scenarios',
      labels: { scenario: 'Scenario' },
      columns: [
        { title: 'Verdict', expr: scenario.STATE, properties: [{ id: 'mappings', value: STATES }, COLORED] },
        {
          title: 'Regressed since',
          expr: scenario.REGRESSED_SINCE,
          properties: [{ id: 'unit', value: 'dateTimeFromNow' }],
        },
        {
          title: 'Last judged',
          expr: scenario.LAST_JUDGED,
          properties: [{ id: 'unit', value: 'dateTimeFromNow' }],
        },
        {
          title: 'Last run',
          expr: scenario.LAST_COMPLETED,
          properties: [{ id: 'unit', value: 'dateTimeFromNow' }],
        },
        { title: 'Expected every', expr: scenario.EXPECTED_INTERVAL, properties: [{ id: 'unit', value: 's' }] },
        { title: 'Baseline runs', expr: scenario.BASELINE_RUNS, properties: [{ id: 'unit', value: 'locale' }] },
        {
          title: 'Undecided checks',
          expr: scenario.UNDECIDED_CHECKS,
          properties: [{ id: 'unit', value: 'locale' }],
        },
      ],
    }),
    stateTimeline({
      id: 21,
      width: 14,
      height: 7,
      title: 'Verdict by scenario',
      description: `The newest verdict at each time. ${ABOUT_VERDICTS}`,
      states: VERDICT_STATES,
      noValue: NO_VERDICT_AT_A_POINT,
      queries: [{ expr: scenario.VERDICT, legend: '{{scenario}}' }],
    }),
    alertList({
      id: 12,
      width: 10,
      height: 7,
      title: 'Alerts',
      description:
        'Alerts of llmbench that are firing or pending, but for those of severity info, from Grafana and from each Prometheus whose rules Grafana reads. Also empty when no rules are loaded.',
      alertName: 'Llm',
    }),
  ];
}

function effects() {
  return [
    joinedTable({
      id: 31,
      width: 24,
      height: 9,
      title: 'Newest effect',
      description:
        'Change of the judged runs against the baseline, with its interval and the smallest change that matters. A latency above 0 is worse, a throughput above 0 better.',
      noValue: NO_EFFECT,
      sortBy: 'Verdict',
      rowsOf: 'scenarios',
      labels: { scenario: 'Scenario', measure: 'Measure', stat: 'Statistic' },
      widths: { Measure: 190, Statistic: 85 },
      columns: [
        { title: 'Verdict', expr: scenario.MEASURE_VERDICT, properties: state(VERDICT_STATES) },
        { title: 'At least', expr: scenario.effect('low'), properties: percent },
        { title: 'Estimate', expr: scenario.effect('estimate'), properties: percent },
        { title: 'At most', expr: scenario.effect('high'), properties: percent },
        { title: 'Margin', expr: scenario.MARGIN, properties: percent },
      ],
    }),
    timeseries({
      id: 32,
      width: 24,
      height: 9,
      title: 'Effect over time, $judged',
      description:
        'Change against the baseline with its interval (low, high), at each check; a value holds until the next. Compare with the margin in the table.',
      unit: 'percentunit',
      noValue: NO_EFFECT,
      repeat: 'judged',
      queries: (['low', 'estimate', 'high'] as const).map((bound) => ({
        expr: scenario.effect(bound, 'scenario=~"$judged"'),
        legend: `{{measure}} {{stat}} ${bound}`,
        ...(bound === 'estimate' ? {} : { dashed: true as const }),
      })),
    }),
  ];
}

function measures() {
  return [
    stateTimeline({
      id: 22,
      width: 24,
      height: 10,
      title: 'Verdict by measure',
      description: `Of the measures that decide. ${ABOUT_VERDICTS}`,
      states: VERDICT_STATES,
      noValue: NO_VERDICT_AT_A_POINT,
      queries: [{ expr: scenario.MEASURE_VERDICT, legend: '{{scenario}} {{measure}} {{stat}}' }],
    }),
  ];
}

function runsAndBaseline() {
  return [
    stateTimeline({
      id: 13,
      width: 12,
      height: 8,
      title: 'Overdue scenarios',
      description:
        'overdue: the last completed run ended more than twice the expected interval ago. never completed: the exporter has no completed run.',
      states: PUNCTUALITY,
      noValue: NOTHING_EXPECTED,
      queries: scenario.OVERDUE,
    }),
    timeseries({
      id: 41,
      width: 12,
      height: 8,
      title: 'Runs per day',
      description:
        'Runs that ended in the 24 hours before each point, of those that the exporter publishes (--max-runs, --run-ttl).',
      unit: 'locale',
      axisLabel: 'runs',
      noValue: 'No run: Prometheus has to scrape `llmbench serve` (port 9469).',
      queries: [scenario.RUNS_OF_THE_DAY],
    }),
    timeseries({
      id: 42,
      width: 12,
      height: 8,
      title: 'Baseline size',
      description:
        'Accepted runs of each scenario. Below 5 a single run cannot be judged; more runs find smaller effects.',
      unit: 'locale',
      axisLabel: 'runs',
      noValue: NOT_JUDGED_TEXT,
      queries: [{ expr: scenario.BASELINE_RUNS, legend: '{{scenario}}' }],
    }),
  ];
}

/** "LLM benchmark history": what the judge decided over weeks, and whether the runs come as expected. */
export function history(): Dashboard {
  const dashboard = baseDashboard({
    uid: 'llmbench-history',
    title: 'LLM benchmark history',
    description: 'Verdicts on the scenarios over time, their effects and baselines, and whether runs come as expected',
    // Of weeks the phases of runs would be a wall of regions.
    regions: false,
    from: 'now-30d',
  }).variables([datasourceVariable(), scenarioVariable(), judgedVariable(scenario.JUDGED), shortestStepVariable()]);
  withRow(dashboard, { id: 1, title: 'State of the scenarios', collapsed: false }, current());
  withRow(dashboard, { id: 3, title: 'Effect against the baseline', collapsed: false }, effects());
  withRow(dashboard, { id: 2, title: 'Verdicts on each measure', collapsed: true }, measures());
  withRow(dashboard, { id: 4, title: 'Overdue scenarios, runs and baseline', collapsed: true }, runsAndBaseline());
  return dashboard.build();
}
