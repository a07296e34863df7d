import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  nativeQuantile,
  percentileEdge,
  RATE_RANGE,
  withRunName,
  type RunSelection,
} from '../../prometheus/queries.ts';
import { baseDashboard } from './base-dashboard.ts';
import { SCRAPE_INTERVAL } from './datasource.ts';
import { NOT_JUDGED_TEXT, STATES, VERDICT_STATES } from './history.ts';
import type { Histograms } from '../../prometheus/native-histograms.ts';
import { joinedTable } from './panels/table.ts';
import { stateTimeline, type State } from './panels/state-timeline.ts';
import { timeseries } from './panels/timeseries.ts';
import * as scenario from './queries/scenario.ts';
import type { Query } from './target.ts';
import { datasourceVariable } from './variables.ts';

const ALL: RunSelection = { runs: '.+' };
const PHASES: readonly (State & { readonly phase: string })[] = [
  { value: 1, phase: 'warmup', text: 'warm-up', color: 'text' },
  { value: 2, phase: 'measure', text: 'measure', color: 'blue' },
  { value: 3, phase: 'cooldown', text: 'cool-down', color: 'purple' },
];

/** The p99 of each run so far: the interval of its bucket, or, of a native histogram, an estimate. */
function p99(histograms: Histograms): Query[] {
  const query = { histogram: 'time_to_first_token', quantile: 0.99, of: ALL, window: RATE_RANGE } as const;
  const named = (expr: string, name: string): Query => ({
    expr: withRunName(expr, ALL),
    legend: `p99 ${name}, {{scenario}} {{start}}`,
    perRun: true,
  });
  return [
    named(percentileEdge(query, 'low'), 'at least'),
    named(percentileEdge(query, 'high'), 'at most'),
    ...(histograms === 'either' ? [named(nativeQuantile(query), 'estimated')] : []),
  ];
}

/** Which phase of which scenario runs. */
function phases(): Query {
  const active = PHASES.map(
    ({ value, phase }) => `${value} * (max by (run_id) (llmbench_run_phase{phase="${phase}"}) == 1)`,
  ).join(' or ');
  const facts = 'max by (run_id, scenario) (last_over_time(llmbench_run_info[$__range]))';
  return {
    expr: `max by (scenario) ((${active}) * on (run_id) group_left (scenario) ${facts})`,
    legend: '{{scenario}}',
  };
}

const ago = [{ id: 'unit', value: 'dateTimeFromNow' }];

/** The newest completed run of each scenario, of those that the exporter publishes. */
const NEWEST_RUNS =
  'topk by (scenario) (1, (max by (run_id) (llmbench_run_end_timestamp_seconds) ' +
  'and on (run_id) (llmbench_run_status{status="completed"} == 1)) ' +
  '* on (run_id) group_left (scenario) max by (run_id, scenario) (llmbench_run_info))';

function lastResult(measure: string): string {
  const result = `max by (run_id) (llmbench_result_seconds{measure="${measure}",stat="p99"})`;
  return `max by (scenario) (${result} * on (run_id) group_left (scenario) (${NEWEST_RUNS} > bool 0))`;
}

/** Four panels for the dashboards of others: they use no variable but the data source. */
export function panelsToCopy(histograms: Histograms = 'classic'): Dashboard {
  const dashboard = baseDashboard({
    uid: 'llmbench-panels',
    title: 'LLM benchmark panels to copy',
    description: 'Panels of benchmarks for your own dashboards: copy them, or make library panels of them',
    regions: false,
    from: 'now-24h',
  })
    .variables([datasourceVariable()])
    .withPanel(
      joinedTable({
        id: 1,
        width: 24,
        height: 6,
        title: 'Last run of each scenario',
        description:
          'When each scenario completed last, the p99 of that run, and the newest verdict. Select a scenario to see its history in the llmbench app.',
        noValue: 'No scenario: Prometheus has to scrape `llmbench serve` (port 9469).',
        rowsOf: 'scenarios',
        sortBy: 'Verdict',
        labels: { scenario: 'Scenario' },
        columns: [
          {
            title: 'Verdict',
            expr: everyScenario(scenario.STATE),
            properties: [
              { id: 'mappings', value: STATES },
              { id: 'custom.cellOptions', value: { type: 'color-text' } },
            ],
          },
          { title: 'Last run', expr: everyScenario(scenario.LAST_COMPLETED), properties: ago },
          { title: 'TTFT p99', expr: lastResult('time_to_first_token'), properties: SECONDS },
          { title: 'ITL p99', expr: lastResult('inter_token_latency'), properties: SECONDS },
          { title: 'Regressed since', expr: everyScenario(scenario.REGRESSED_SINCE), properties: ago },
        ],
      }),
    )
    .withPanel(
      stateTimeline({
        id: 2,
        width: 24,
        height: 6,
        title: 'Verdict by scenario',
        description: 'The newest verdict at each time; it holds until the next check.',
        states: VERDICT_STATES,
        noValue: NOT_JUDGED_TEXT,
        queries: [{ expr: everyScenario(scenario.VERDICT), legend: '{{scenario}}' }],
      }),
    )
    .withPanel(
      stateTimeline({
        id: 3,
        width: 24,
        height: 8,
        title: 'Benchmarks under way',
        description: 'When a benchmark sent load, by scenario and phase: compare it with what your servers did.',
        states: PHASES,
        noValue: 'No benchmark ran in the time range, or Prometheus does not scrape them through `llmbench serve`.',
        queries: [phases()],
      }),
    )
    .withPanel(
      timeseries({
        id: 4,
        width: 24,
        height: 8,
        title: 'Time to first token of the client, p99 so far',
        description:
          'The p99 of all requests of a run until each time. It lies between "at least" and "at most", the bounds of its bucket; beyond the last bound there is no "at most".',
        unit: 's',
        queries: p99(histograms),
      }),
    );
  return withoutScrapeInterval(dashboard.build());
}

const SECONDS = [{ id: 'unit', value: 's' }];

function everyScenario(expr: string): string {
  return expr.replaceAll('scenario=~"$scenario"', 'scenario!=""');
}

/** Other dashboards do not have the variable: there Grafana takes the interval of the data source. */
function withoutScrapeInterval(dashboard: Dashboard): Dashboard {
  const json = JSON.stringify(dashboard, (key, value: unknown) =>
    key === 'interval' && value === SCRAPE_INTERVAL ? undefined : value,
  );
  return JSON.parse(json) as Dashboard;
}
