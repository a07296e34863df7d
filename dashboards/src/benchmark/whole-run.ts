import { UID } from '../datasource.ts';
import type { Histograms } from '../../../prometheus/native-histograms.ts';
import { stat, type StatOptions } from '../panels/stat.ts';
import { stateMappings, type State } from '../panels/state-timeline.ts';
import { joinedTable, infoTable } from '../panels/table.ts';
import * as client from '../queries/client.ts';
import { TOKENS_PER_SECOND, COUNT } from '../panels/display-units.ts';
import { appPageOfRun } from '../target.ts';
import { UNTIL_PUBLISHED, WHOLE_RUN } from '../wording.ts';

/** Panel sizes: width in 24ths of the screen, height in grid rows. */
const TILE = { width: 3, height: 4 } as const;
export const HALF = { width: 12, height: 7 } as const;
export const THIRD = { width: 8, height: 7 } as const;

const OBJECTIVE_STATES: readonly State[] = [
  { value: 0, text: 'missed', color: 'red' },
  { value: 1, text: 'met', color: 'green' },
];
const NEWEST = 'Of several chosen runs: the one that began last; "Results of the runs" has all of them.';

/**
 * The first line: the newest chosen run in numbers, also while it lasts. Beside the sign of a description, a tile of a screen of
 * 1024 pixels has room for six letters.
 */
export function runTiles(histograms: Histograms) {
  const tiles: Omit<StatOptions, 'id' | 'width' | 'height'>[] = [
    {
      title: 'Done',
      description:
        'Share of the measure phase that is done, of the planned time or requests. –: the run was aborted or failed, or `llmbench serve` has not published its result yet.',
      unit: 'percentunit',
      queries: client.progress,
    },
    {
      title: 'Left',
      description: 'Time left of the measure phase at the pace so far. –: as for Done.',
      // Grafana writes 1.6 hours in seconds as "2 hours".
      unit: 'dthms',
      queries: client.timeLeft,
    },
    {
      title: 'Ok',
      description:
        'Requests of the measure phase that got a complete response. Warm-up and cool-down are not included.',
      unit: 'locale',
      queries: [client.requestsOk],
    },
    {
      title: 'Failed',
      description:
        'Requests of the measure phase that ended in an error or a timeout. They are not part of the latencies.',
      unit: 'locale',
      alarmFrom: 1,
      queries: [client.requestsFailed],
    },
    {
      title: 'Req/s',
      description: `Ok requests ÷ time from the first request to the last response. ${UNTIL_PUBLISHED}`,
      unit: 'reqps',
      queries: client.requestThroughput,
    },
    {
      title: 'Tok/s',
      description: `Output tokens as the server counted them ÷ time from the first request to the last response. ${UNTIL_PUBLISHED}`,
      unit: TOKENS_PER_SECOND.unit,
      queries: client.outputTokenThroughput,
    },
    {
      title: 'TTFT',
      description: `Time to first token: from sending a request to its first chunk with content. ${WHOLE_RUN[histograms]}`,
      unit: 's',
      queries: client.wholeRunPercentiles('time_to_first_token', histograms),
    },
    {
      title: 'ITL',
      description: `Inter-token latency, one value per request: (last − first content chunk) ÷ (output tokens − 1). ${WHOLE_RUN[histograms]}`,
      unit: 's',
      queries: client.wholeRunPercentiles('inter_token_latency', histograms),
    },
  ];
  return tiles.map((tile, index) => {
    const description = `${tile.description} ${NEWEST}`;
    return stat({ ...TILE, ...tile, description, id: 11 + index });
  });
}

/** Whether the newest chosen run kept its objectives. */
export function objectives(id: number) {
  return stat({
    id,
    width: 6,
    height: 6,
    title: 'Objectives of the run',
    description: `Whether the run met each of its objectives (--slo). –: no result is published, the run has no objective, or it has too few requests to decide. ${NEWEST}`,
    unit: 'none',
    mappings: stateMappings(OBJECTIVE_STATES),
    queries: [client.objectivesMet],
  });
}

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
