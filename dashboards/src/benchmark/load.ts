import { joinedTable, type Column } from '../panels/table.ts';
import { timeseries } from '../panels/timeseries.ts';
import * as client from '../queries/client.ts';
import { systemRates } from '../queries/system.ts';
import { TOKENS_PER_SECOND, COUNT, valueUnit } from '../panels/display-units.ts';
import { SHORT_RUN } from '../wording.ts';
import { THIRD } from './whole-run.ts';

/** What the client asks of the server, and what comes back. */
export function loadOverTime() {
  return [
    timeseries({
      ...THIRD,
      id: 21,
      title: 'Requests by outcome',
      description: `Requests that ended per second, by outcome, in all phases. ${SHORT_RUN}`,
      unit: 'reqps',
      queries: [client.requestRates],
    }),
    timeseries({
      ...THIRD,
      id: 22,
      title: 'Output tokens',
      description:
        'Output tokens per second: counted by the client at the end of each request (from the usage that the server ' +
        'reports), and by each server, for all its clients. Steps of the client are requests that end together.',
      unit: TOKENS_PER_SECOND.unit,
      queries: [client.outputTokenRate, ...systemRates('output_tokens', 'output')],
    }),
    timeseries({
      ...THIRD,
      id: 23,
      title: 'Requests in flight',
      description: 'Requests that the client has sent and that have not ended.',
      unit: 'locale',
      axisLabel: 'requests',
      queries: [client.inFlight],
    }),
  ];
}

/** Requests that failed, by reason. */
export function errorsByReason() {
  return timeseries({
    ...THIRD,
    id: 24,
    title: 'Errors by reason',
    description:
      'Requests that failed per second, by reason, in all phases. If all reasons are at 0, no request failed.',
    unit: 'reqps',
    queries: [client.errorRates],
  });
}

/** What requests have that is not counted as tokens alone. */
export function contentsOverTime() {
  return [
    timeseries({
      ...THIRD,
      id: 25,
      title: 'Documents',
      description: `Texts per second that ok requests embedded, scored or ranked. ${SHORT_RUN}`,
      unit: 'locale',
      axisLabel: 'documents/s',
      noValue: 'No chosen run has documents (--endpoint-type embeddings, pooling, rerank or score).',
      queries: [client.documentRate],
    }),
    timeseries({
      ...THIRD,
      id: 26,
      title: 'Images',
      description: `Images per second in ok requests, those of earlier turns included. ${SHORT_RUN}`,
      unit: 'locale',
      axisLabel: 'images/s',
      noValue: 'No chosen run has images (--images).',
      queries: [client.imageRate],
    }),
    timeseries({
      ...THIRD,
      id: 27,
      title: 'Audio',
      description: `Seconds of audio per second in ok requests, those of earlier turns included. ${SHORT_RUN}`,
      unit: 'locale',
      axisLabel: 'seconds/s',
      noValue: 'No chosen run has audio of a known length (--audio-clips).',
      queries: [client.audioRate],
    }),
  ];
}

const NOTHING_KNOWN =
  'No chosen run has energy or cost. Energy requires a metrics page of the GPUs, such as ' +
  '`llmbench run --server-metrics http://HOST:9400/metrics`; cost requires `--gpu-hour-price 2.5EUR`. ' +
  'The results come from `llmbench serve` (port 9469) when the run has ended.';

/** Each measure with the unit of its family and its title. */
const COLUMNS = [
  ['joules_per_token', 'energy_per_output_token', 'Per output token', valueUnit('joules').unit],
  ['joules_per_token', 'energy_per_total_token', 'Per token in total', valueUnit('joules').unit],
  ['joules', 'total_gpu_energy', 'Energy', valueUnit('joules').unit],
  ['watts', 'total_gpu_power', 'Mean power', valueUnit('watts').unit],
  ['watts', 'idle_gpu_power', 'Idle power before', valueUnit('watts').unit],
  ['cost_per_million_tokens', 'cost_per_million_output_tokens', 'Cost per 1M output tokens', COUNT],
  ['cost_per_million_tokens', 'cost_per_million_total_tokens', 'Cost per 1M tokens in total', COUNT],
] as const;

/** What the chosen runs took and cost. */
export function energyOfRuns() {
  return joinedTable({
    id: 61,
    width: 24,
    height: 6,
    title: 'Energy and cost of the runs',
    description:
      'Energy of all GPUs in the measure phase, idle power included, and the cost of the GPU time, both over the tokens of ok ' +
      'requests. Idle power: the lowest before the first request. Cost: at the throughput of the run, in the currency of ' +
      '--gpu-hour-price. –: the run lacks the measure.',
    noValue: NOTHING_KNOWN,
    labels: { start: 'Start', scenario: 'Scenario', run_id: 'Run' },
    rowsOf: 'runs',
    columns: COLUMNS.map(([unit, measure, title, shown]): Column => ({
      title,
      expr: client.resultOfRuns(unit, measure),
      properties: [{ id: 'unit', value: shown }],
    })),
  });
}
