import { joinedTable } from '../panels/joined-table.ts';
import { infoTable } from '../panels/table.ts';
import { appPageOfRun } from '../target.ts';
import * as client from '../queries/client.ts';
import { COUNT, TOKENS_PER_SECOND } from '../server/units.ts';
import { UID } from '../uid.ts';

const SECONDS = [{ id: 'unit', value: 's' }];

function percentile(measure: string, stat: string) {
  return client.resultOfRuns('seconds', measure, stat);
}

/** The numbers of all chosen runs, a row each. */
export function resultsOfRuns() {
  const count = [
    { id: 'unit', value: COUNT },
    { id: 'decimals', value: 0 },
  ];
  return joinedTable({
    id: 52,
    width: 18,
    height: 6,
    title: 'Results of the runs',
    description:
      'The measure phase of each chosen run: counts, and, as soon as `llmbench serve` publishes its result, exact percentiles and ' +
      'throughput. –: not published, or not measured.',
    noValue:
      'No chosen run was scraped in the time range, nor has a result that `llmbench serve` (port 9469) publishes.',
    labels: { start: 'Start', scenario: 'Scenario', run_id: 'Run' },
    rowsOf: 'runs',
    columns: [
      { title: 'Ok', expr: client.okOfRuns, properties: count },
      { title: 'Failed', expr: client.failedOfRuns, properties: count },
      { title: 'TTFT p50', expr: percentile('time_to_first_token', 'p50'), properties: SECONDS },
      { title: 'TTFT p99', expr: percentile('time_to_first_token', 'p99'), properties: SECONDS },
      { title: 'ITL p50', expr: percentile('inter_token_latency', 'p50'), properties: SECONDS },
      { title: 'ITL p99', expr: percentile('inter_token_latency', 'p99'), properties: SECONDS },
      {
        title: 'Requests/s',
        expr: client.resultOfRuns('requests_per_second', 'request_throughput'),
        properties: [{ id: 'unit', value: 'reqps' }],
      },
      {
        title: 'Output tok/s',
        expr: client.resultOfRuns('tokens_per_second', 'output_token_throughput'),
        properties: [{ id: 'unit', value: TOKENS_PER_SECOND.unit }],
      },
    ],
  });
}

/** Which runs there are. */
export function runsInRange() {
  return infoTable({
    id: 51,
    width: 24,
    height: 8,
    title: 'Runs in the time range',
    description:
      'Facts of each run of the selected scenarios. Click its start or its id to show it alone, here or in the app.',
    expr: client.RUNS,
    labels: client.RUN_FACTS,
    linked: ['start', 'run_id'],
    links: [
      {
        title: 'Show run ${__data.fields.run_id}',
        url: `/d/${UID}?\${__url_time_range}&\${datasource:queryparam}&var-run=\${__data.fields.run_id}`,
        targetBlank: false,
      },
      appPageOfRun('__data.fields.run_id'),
    ],
  });
}
