import type { RunPart } from '../../../prometheus/queries.ts';
import { joinedTable, type Column } from '../panels/table.ts';
import { timeseries } from '../panels/timeseries.ts';
import * as client from '../queries/client.ts';
import { COUNT, TOKENS_PER_SECOND } from '../panels/display-units.ts';
import { OVER_TIME } from '../wording.ts';
import { THIRD } from './whole-run.ts';

const ONE_MODEL = 'No chosen run has several models or adapters (--model a:0.7 --model b:0.3).';
const NO_TURNS = 'No chosen run has conversations (--session-turns-mean).';
const PUBLISHED = 'The results come from `llmbench serve` (port 9469) when the run has ended.';

const unit = (value: string): Column['properties'] => [{ id: 'unit', value }];

function column(by: RunPart, title: string, [family, measure, stat]: readonly string[], shown: string): Column {
  return { title, expr: client.resultOfParts(by, family ?? '', measure ?? '', stat), properties: unit(shown) };
}

/** Median and p99 of the latencies that a user notices. */
function latencies(by: RunPart): Column[] {
  const of = [
    ['TTFT', 'time_to_first_token'],
    ['ITL', 'inter_token_latency'],
  ] as const;
  return of.flatMap(([title, measure]) =>
    ['p50', 'p99'].map((stat) => column(by, `${title} ${stat}`, ['seconds', measure, stat], 's')),
  );
}

/** What each model, or adapter, and each class of turns had of the chosen runs. */
export function partsOfRuns() {
  const rows = { start: 'Start', scenario: 'Scenario', run_id: 'Run' };
  return [
    joinedTable({
      id: 71,
      width: 24,
      height: 6,
      title: 'Results by model',
      description:
        'The requests of the measure phase to each model or adapter of the chosen runs: exact percentiles, and what they ' +
        'have of the throughput. Of more than 16 models, those with the smallest shares are together in "other".',
      noValue: `${ONE_MODEL} ${PUBLISHED}`,
      labels: { ...rows, model: 'Model' },
      rowsOf: 'runs',
      columns: [
        column('model', 'Ok', ['requests', 'requests', 'ok'], COUNT),
        ...latencies('model'),
        column('model', 'Requests/s', ['requests_per_second', 'request_throughput', 'value'], 'reqps'),
        column(
          'model',
          'Output tok/s',
          ['tokens_per_second', 'output_token_throughput', 'value'],
          TOKENS_PER_SECOND.unit,
        ),
        column('model', 'Failed', ['ratio', 'error_ratio', 'value'], 'percentunit'),
      ],
    }),
    joinedTable({
      id: 72,
      width: 24,
      height: 6,
      title: 'Results by turn',
      description:
        'The first turns of conversations, which are short and not cached, and the later ones, which are long and mostly ' +
        'cached. Percentiles are exact. The page of the run in the app has the later turns by number.',
      noValue: `${NO_TURNS} ${PUBLISHED}`,
      labels: { ...rows, turn: 'Turn' },
      rowsOf: 'runs',
      columns: [
        column('turn', 'Ok', ['requests', 'requests', 'ok'], COUNT),
        column('turn', 'Mean input', ['tokens', 'input_sequence_length', 'mean'], COUNT),
        column('turn', 'Cache hits', ['ratio', 'cached_input_ratio', 'value'], 'percentunit'),
        ...latencies('turn'),
        column('turn', 'Failed', ['ratio', 'error_ratio', 'value'], 'percentunit'),
      ],
    }),
    timeseries({
      ...THIRD,
      id: 73,
      title: 'Time to first token by model, p99',
      description: `From sending a request to its first chunk with content, by the model of the request. ${OVER_TIME}`,
      unit: 's',
      noValue: ONE_MODEL,
      queries: [client.firstTokensOverTime('model', 0.99)],
    }),
    timeseries({
      ...THIRD,
      id: 74,
      title: 'Requests by model',
      description: 'Requests of the measure phase that ended per second, by the model of the request.',
      unit: 'reqps',
      noValue: ONE_MODEL,
      queries: [client.requestRatesOf('model')],
    }),
    timeseries({
      ...THIRD,
      id: 75,
      title: 'Time to first token by turn',
      description: `Median and p99 of the first turns of conversations and of the later ones. ${OVER_TIME}`,
      unit: 's',
      noValue: NO_TURNS,
      queries: [client.firstTokensOverTime('turn', 0.5), client.firstTokensOverTime('turn', 0.99)],
    }),
  ];
}

/** Of endpoints whose responses have no tokens, such as rerank, and of those that were not streamed: what they have. */
export function wholeResponses() {
  const latency = (stat: string): Column => ({
    title: `Latency ${stat}`,
    expr: client.resultOfRuns('seconds', 'request_latency', stat),
    properties: unit('s'),
  });
  return joinedTable({
    id: 36,
    width: 16,
    height: 7,
    title: 'Request latency, documents and images of the runs',
    description:
      'Exact percentiles of the request latency; documents per second of embeddings, pooling, rerank and score, whose ' +
      'responses are no streams: they have no time to first token and no inter-token latency; and images per second of runs ' +
      'that send images.',
    noValue: `No chosen run has a result. ${PUBLISHED}`,
    labels: { start: 'Start', scenario: 'Scenario', run_id: 'Run' },
    rowsOf: 'runs',
    columns: [
      ...['p50', 'p90', 'p99'].map(latency),
      {
        title: 'Documents/s',
        expr: client.resultOfRuns('documents_per_second', 'document_throughput'),
        properties: unit(COUNT),
      },
      {
        title: 'Images/s',
        expr: client.resultOfRuns('images_per_second', 'image_throughput'),
        properties: unit(COUNT),
      },
      {
        title: 'Input tok/s',
        expr: client.resultOfRuns('tokens_per_second', 'input_token_throughput'),
        properties: unit(TOKENS_PER_SECOND.unit),
      },
    ],
  });
}
