import { closedRow, detailsRow, lines, type RowSpec } from '../server/panel-spec.ts';
import type { ServerQueries } from '../server/server-queries.ts';

/** Administration endpoints would thin out every mean. */
const GENERATE = 'dynamo_endpoint="generate"';
const WORKER = { by: ['dynamo_component', 'worker_id'], where: GENERATE };

/** The workers' own pages (`DYN_SYSTEM_PORT`). */
export function dynamoWorkerRows(q: ServerQueries): RowSpec[] {
  return [workers(q), pool(q), cache(q)];
}

function workers(q: ServerQueries): RowSpec {
  return closedRow(7, 'Workers', [
    lines(
      'Requests',
      'Requests received by each worker per second. A disaggregated request counts at its prefill and at its decode worker. If they are uneven, look at the routing.',
      [q.rate('dynamo_component_requests_total', { ...WORKER, as: '' })],
    ),
    lines('Requests in work', 'Requests that each worker is processing now.', [
      q.gauge('dynamo_component_inflight_requests', { ...WORKER, as: '' }),
    ]),
    lines('Request duration', 'From receipt to the end of the answer. Prefill workers: the prefill alone.', [
      q.percentiles('dynamo_component_request_duration_seconds', [0.5, 0.99], { ...WORKER, as: '' }),
    ]),
    lines('Errors', 'Failed requests, by the place where they failed. generate is the engine.', [
      q.rate('dynamo_component_errors_total', { by: ['dynamo_component', 'error_type'], where: GENERATE, as: '' }),
    ]),
    lines('Cancelled', 'Requests whose client went away while the worker had them.', [
      q.rate('dynamo_component_cancellation_total', { ...WORKER, as: '' }),
    ]),
    lines(
      'Time to first response',
      'From taking the request to its first response item, which comes before the first token.',
      [q.percentiles('dynamo_work_handler_time_to_first_response_seconds', [0.5, 0.99])],
    ),
  ]);
}

function pool(q: ServerQueries): RowSpec {
  return detailsRow(8, 'Work queue and transport of the workers', [
    lines(
      'Work queue',
      'Requests that wait for the dispatcher, and the size of the queue. When it is full, senders block.',
      [
        q.gauge('dynamo_work_handler_queue_depth', { as: 'waiting' }),
        q.gauge('dynamo_work_handler_queue_capacity', { as: 'size' }),
      ],
    ),
    lines('Worker pool', 'Handlers that run, and the limit. At the limit, requests wait for a permit.', [
      q.gauge('dynamo_work_handler_pool_active_tasks', { as: 'running' }),
      q.gauge('dynamo_work_handler_pool_capacity', { as: 'limit' }),
    ]),
    lines('Wait for a permit', 'Above 0, the pool is too small.', [
      q.percentiles('dynamo_work_handler_permit_wait_seconds', [0.5, 0.99]),
    ]),
    lines('Not queued', 'Requests that could not be queued because the dispatcher was gone.', [
      q.rate('dynamo_work_handler_enqueue_rejected_total', { as: 'refused' }),
    ]),
    lines(
      'Network transit',
      'From sending at the frontend to receipt at the worker. It is measured with two clocks and includes their difference.',
      [q.percentiles('dynamo_work_handler_network_transit_seconds', [0.5, 0.99])],
    ),
    lines('Bytes', 'Payload received and sent by the workers.', [
      q.rate('dynamo_component_request_bytes_total', { ...WORKER, as: 'received' }),
      q.rate('dynamo_component_response_bytes_total', { ...WORKER, as: 'sent' }),
    ]),
  ]);
}

function cache(q: ServerQueries): RowSpec {
  return detailsRow(9, 'KV cache and embedding cache of the workers', [
    lines(
      'KV cache usage',
      'In the fullest rank. Prefill workers of a disaggregated deployment do not expose it.',
      [q.gauge('dynamo_component_gpu_cache_usage_percent', { by: ['dynamo_component'], as: '' })],
      { max: 1 },
    ),
    lines('KV blocks', 'Blocks that the engines have.', [
      q.gauge('dynamo_component_total_blocks', { by: ['dynamo_component'], as: 'blocks' }),
    ]),
    lines(
      'Embedding cache hits',
      'Embeddings found ÷ looked up.',
      [
        q.custom(
          `sum by (instance) (rate(${q.selector('dynamo_component_embedding_cache_hits_total')}[$__rate_interval])) / ` +
            `(sum by (instance) (rate(${q.selector('dynamo_component_embedding_cache_hits_total')}[$__rate_interval])) + ` +
            `sum by (instance) (rate(${q.selector('dynamo_component_embedding_cache_misses_total')}[$__rate_interval])))`,
          ['dynamo_component_embedding_cache_hits_total', 'dynamo_component_embedding_cache_misses_total'],
          { unit: 'percentunit' },
          'hits {{instance}}',
        ),
      ],
      { max: 1 },
    ),
    lines('Embedding cache evictions', 'Entries removed to make room for others.', [
      q.rate('dynamo_component_embedding_cache_evictions_total', { as: 'evicted' }),
    ]),
    lines(
      'Embedding cache usage',
      'Share of its memory in use.',
      [q.gauge('dynamo_component_embedding_cache_utilization', { as: 'used' })],
      { max: 1 },
    ),
    lines('Embedding cache memory', 'Bytes in use.', [
      q.gauge('dynamo_component_embedding_cache_current_bytes', { as: 'bytes' }),
    ]),
    lines('Embedding cache entries', 'Entries held.', [
      q.gauge('dynamo_component_embedding_cache_entries', { as: 'entries' }),
    ]),
    lines('Model load time', 'Duration of loading the model.', [
      q.highest('dynamo_component_model_load_time_seconds', { by: ['dynamo_component'], as: '' }),
    ]),
    lines('Uptime', 'Since the start of each process: a fall to 0 is a restart, after which its counters begin anew.', [
      q.highest('dynamo_component_uptime_seconds', { as: 'uptime' }),
    ]),
  ]);
}
