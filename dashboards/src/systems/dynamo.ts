import { runCovered, targetsUp } from '../server/health.ts';
import { cell, kept, closedRow, heat, lines, row, servers, stacked, type RowSpec } from '../server/panel-spec.ts';
import type { ServerDashboard } from '../server/server-dashboard.ts';
import { ServerQueries } from '../server/server-queries.ts';
import { dynamoProcessRows, dynamoRouterRows, dynamoWorkerRows } from './dynamo-workers.ts';
import { GPU_EXPORTER, gpuRow, lmcacheRow } from './gpu-row.ts';
import { NIXL_AGENT, nixlRow } from './nixl-row.ts';

/** On the pages of frontends and workers alike. */
const PRESENCE = 'dynamo_component_uptime_seconds';
const QUANTILES = [0.5, 0.9, 0.99];

const q = new ServerQueries({
  systems: ['dynamo', 'dynamo-router'],
  modelLabel: 'model',
  choices: { worker: 'worker_id' },
});
/** The frontend's families, which `$worker` must not narrow: its numbers of workers are written in another way. */
const frontend = new ServerQueries({ systems: ['dynamo', 'dynamo-router'], modelLabel: 'model' });
const whole = frontend.overRange();

function overview(): RowSpec {
  return row(1, 'Health, saturation, and where the time goes', [
    servers(
      'One row per frontend or worker: is it healthy, is it saturated. What only one of them counts is empty for the other.',
      [
        targetsUp(frontend, PRESENCE),
        runCovered(frontend, PRESENCE),
        cell(
          'Failed',
          'share of the requests that ended in an error. Requests that the client cancelled are not counted as errors. The first error of each kind is missing, because its series begins with it.',
          [whole.share('dynamo_frontend_requests_total', 'status="error",error_type!="cancelled"')],
          { above: 0 },
        ),
        cell(
          'Max queue',
          'the largest number of requests that waited for their first token at any scrape: routing, queue and prefill together.',
          [whole.gauge('dynamo_frontend_queued_requests')],
        ),
        cell(
          'Max KV',
          'usage of the fullest rank of a worker. Empty for engines that do not expose it; see the dashboard of the engine.',
          [whole.gauge('dynamo_component_gpu_cache_usage_percent')],
          { above: 0.95 },
        ),
        cell('TTFT p99', 'time to first token, from the entry into the frontend.', [
          whole.percentiles('dynamo_frontend_time_to_first_token_seconds', [0.99]),
        ]),
        ...kept((edge) => whole.within('dynamo_frontend_time_to_first_token_seconds', 'ttft_slo', edge)),
        cell('ITL p99', 'inter-token latency, one value per token.', [
          whole.percentiles('dynamo_frontend_inter_token_latency_seconds', [0.99]),
        ]),
        cell('Tokens', 'output tokens of all requests.', [whole.rate('dynamo_frontend_output_tokens_total')]),
      ],
    ),
    stacked(
      'Where the time goes',
      'Mean time in each stage of the frontend per request. Averaged over all requests of the selected servers, those of a warm-up and a cool-down included. If transport_roundtrip grows, look at the workers; if preprocess grows, the frontend is short of CPU; if route grows, requests queue in the router.',
      [frontend.meanOverall('dynamo_frontend_stage_duration_seconds', { by: ['stage'], as: '' })],
    ),
    lines(
      'Requests in the frontend',
      'Open requests, and those of them that have no first token yet. If the waiting ones grow while the open ones stay constant, the system is saturated.',
      [
        frontend.gauge('dynamo_frontend_active_requests', { as: 'open' }),
        frontend.gauge('dynamo_frontend_queued_requests', { as: 'no token yet' }),
      ],
    ),
    lines(
      'Load of the workers',
      "KV blocks that each worker holds, as estimated by the frontend. If the lines are uneven, one worker gets too much; see the router's row.",
      [frontend.gauge('dynamo_frontend_worker_active_decode_blocks', { by: ['worker_id'], as: '' })],
    ),
    lines(
      'Time to first token',
      'From the entry into the frontend to the first token. Compare with the time to first response of the workers: the rest is router and transport.',
      [frontend.percentiles('dynamo_frontend_time_to_first_token_seconds', QUANTILES)],
      { objective: 'ttft_slo' },
    ),
    lines(
      'Inter-token latency',
      'One value per token: a chunk of n tokens counts as n equal gaps. Not comparable with a mean per request.',
      [frontend.percentiles('dynamo_frontend_inter_token_latency_seconds', QUANTILES)],
      { objective: 'itl_slo' },
    ),
    lines('Output tokens', 'Counted while they stream.', [
      frontend.rate('dynamo_frontend_output_tokens_total', { as: 'output' }),
    ]),
  ]);
}

function latency(): RowSpec {
  return closedRow(2, 'Latency at the frontend', [
    lines(
      'Request duration',
      'Whole requests, failed ones too. The first bounds are seconds apart: below them an estimate is imprecise.',
      [frontend.meanAndPercentiles('dynamo_frontend_request_duration_seconds', QUANTILES)],
    ),
    lines(
      'Latest first token, by worker',
      'The latest value of each worker. It is not a statistic, but shows which worker is slow.',
      [
        frontend.highest('dynamo_frontend_worker_last_time_to_first_token_seconds', {
          by: ['worker_id'],
          as: '',
        }),
      ],
    ),
    lines(
      'Latest gap between tokens, by worker',
      'The latest value of each worker. It is not a statistic, but shows which worker is slow.',
      [
        frontend.highest('dynamo_frontend_worker_last_inter_token_latency_seconds', {
          by: ['worker_id'],
          as: '',
        }),
      ],
    ),
    lines(
      'Latest prompt length, by worker',
      'Of the same requests as the latest first token: a long prompt explains a slow one.',
      [frontend.highest('dynamo_frontend_worker_last_input_sequence_tokens', { by: ['worker_id'], as: '' })],
    ),
    heat(
      'Time to first token, $instance',
      'First tokens per second in each bucket: what the percentiles are made of.',
      frontend.buckets('dynamo_frontend_time_to_first_token_seconds'),
    ),
  ]);
}

function throughput(): RowSpec {
  return closedRow(3, 'Throughput and errors', [
    lines('Requests', 'Requests accepted and finished per second. If accepted stays above finished, work piles up.', [
      frontend.rate('dynamo_frontend_requests_started_total', { as: 'accepted' }),
      frontend.rate('dynamo_frontend_requests_total', { as: 'finished' }),
    ]),
    lines(
      'Errors by type',
      'overload: rejected because the workers are busy. internal: a worker failed. cancelled: the client disconnected. validation, not_found: the request is wrong.',
      [frontend.rate('dynamo_frontend_requests_total', { by: ['error_type'], where: 'status="error"', as: '' })],
    ),
    lines(
      'Prompt length',
      'Of requests that got a first token. A change explains a change of the time to first token.',
      [frontend.percentiles('dynamo_frontend_input_sequence_tokens', [0.5, 0.99])],
    ),
    lines('Output length', 'Of requests that ended. A change explains a change of the request duration.', [
      frontend.percentiles('dynamo_frontend_output_sequence_tokens', [0.5, 0.99]),
    ]),
    lines(
      'Prefix cache hits',
      'Cached prompt tokens that the engines reported ÷ all prompt tokens. Compare with what the router expected.',
      [
        frontend.custom(
          `sum by (model, instance) (rate(${frontend.selector('dynamo_frontend_cached_tokens_sum')}[$__rate_interval])) / ` +
            `sum by (model, instance) (rate(${frontend.selector('dynamo_frontend_input_sequence_tokens_sum')}[$__rate_interval]))`,
          ['dynamo_frontend_cached_tokens', 'dynamo_frontend_input_sequence_tokens'],
          { unit: 'percentunit' },
          'hits {{instance}} {{model}}',
        ),
      ],
      { max: 1 },
    ),
    lines(
      'Cancelled, shed, moved',
      'cancelled: by the client. shed: rejected because all workers were busy. moved: taken over by another worker after a failure.',
      [
        frontend.rate('dynamo_frontend_model_cancellation_total', {
          as: 'cancelled',
          zeroWith: 'dynamo_frontend_requests_started_total',
        }),
        frontend.rate('dynamo_frontend_model_rejection_total', { as: 'shed' }),
        frontend.rate('dynamo_frontend_model_migration_total', { by: ['migration_type'], as: 'moved' }),
        frontend.rate('dynamo_frontend_model_migration_max_seq_len_exceeded_total', { as: 'too long to move' }),
      ],
    ),
    lines('Clients gone', 'Connections closed by clients since the start of the frontend. A gauge that only rises.', [
      frontend.gauge('dynamo_frontend_disconnected_clients', { as: 'gone' }),
    ]),
    lines(
      'Requests by stage',
      'The stage in which requests are now. Many in route: they queue in the router. Many in dispatch: the transport or the workers are busy.',
      [frontend.gauge('dynamo_frontend_stage_requests', { by: ['stage'], as: '' })],
    ),
    lines(
      'Failures, by reason',
      'Requests that failed for good. Unavailable: no worker could be reached. A series begins with its first failure.',
      [frontend.rate('dynamo_frontend_failures_total', { by: ['class', 'reason'], as: '' })],
    ),
    lines(
      'Models ready',
      '1 while the frontend can route a request for the model. 0 under load: its workers are gone, and requests fail.',
      [frontend.gauge('dynamo_frontend_model_ready', { as: 'ready' })],
      { max: 1 },
    ),
    lines('Prompt tokens', 'Of requests that got a first token, cached tokens included.', [
      frontend.sumRate('dynamo_frontend_input_sequence_tokens', { as: 'prompt' }),
    ]),
  ]);
}

/** NVIDIA Dynamo: frontend, router and workers. */
export function dynamo(): ServerDashboard {
  return {
    uid: 'llmbench-dynamo',
    system: 'dynamo',
    title: 'LLM server: Dynamo',
    description: 'Frontend, KV router and workers of NVIDIA Dynamo; the engine of a worker has a dashboard of its own',
    presence: PRESENCE,
    model: { family: 'dynamo_frontend_model_context_length', label: 'model' },
    choices: [
      {
        name: 'worker',
        label: 'Worker',
        description:
          'Workers, as they write their own number: hexadecimal on their pages, decimal on that of the frontend',
        family: 'dynamo_component_requests_total',
        of: 'worker_id',
      },
      GPU_EXPORTER,
      NIXL_AGENT,
    ],
    objectives: [
      {
        name: 'ttft_slo',
        label: 'TTFT objective',
        histogram: 'dynamo_frontend_time_to_first_token_seconds',
        measure: 'time_to_first_token',
      },
      {
        name: 'itl_slo',
        label: 'ITL objective',
        histogram: 'dynamo_frontend_inter_token_latency_seconds',
        measure: 'inter_token_latency',
      },
    ],
    rows: [
      overview(),
      latency(),
      throughput(),
      ...dynamoRouterRows(frontend),
      ...dynamoWorkerRows(q),
      ...dynamoProcessRows(frontend),
      nixlRow(14),
      lmcacheRow(13),
      gpuRow(12, frontend.selector('dynamo_frontend_output_tokens_total')),
    ],
  };
}
