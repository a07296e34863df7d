import { closedRow, detailsRow, lines, type RowSpec } from '../server/panel-spec.ts';
import type { ServerQueries } from '../server/server-queries.ts';

/** The KV router: how well it chooses, what it costs, whether its index is true. */
export function dynamoRouterRows(q: ServerQueries): RowSpec[] {
  return [choice(q), cost(q), events(q)];
}

function choice(q: ServerQueries): RowSpec {
  return closedRow(4, 'Router', [
    lines(
      'Router queue',
      'Requests and prompt tokens that the router holds back. If they grow, all workers are at their limit.',
      [q.gauge('dynamo_frontend_router_queue_pending_requests', { by: ['worker_type'], as: 'requests' })],
    ),
    lines('Prompt tokens in the router queue', 'The work behind the queue: few requests may hold many tokens.', [
      q.gauge('dynamo_frontend_router_queue_pending_isl_tokens', { by: ['worker_type'], as: 'waiting' }),
      q.gauge('dynamo_frontend_router_queue_pending_cached_tokens', {
        by: ['worker_type'],
        as: 'expected to be cached',
      }),
    ]),
    lines(
      'Expected cache hits',
      'Share of a prompt that the router expected in the cache of the worker that it selected. If it is far above the hits that the engines report, the index of the router is out of date.',
      [
        q.mean('dynamo_component_router_kv_hit_rate', { as: 'mean' }),
        q.percentiles('dynamo_component_router_kv_hit_rate', [0.5]),
      ],
      { max: 1 },
    ),
    lines(
      'Prefill work on the workers',
      'Prompt tokens waiting for prefill or in it, by worker, as estimated by the frontend. If they are uneven, the routing weights favor the cache over the load.',
      [q.gauge('dynamo_frontend_worker_active_prefill_tokens', { by: ['worker_id'], as: 'worker' })],
    ),
    lines('Requests through the router', 'Finished per second; a disaggregated request counts twice.', [
      q.rate('dynamo_component_router_requests_total', { as: 'finished' }),
    ]),
    lines(
      'Latency as the router sees it',
      'Time to first token and between tokens without the HTTP part of the frontend.',
      [
        q.percentiles('dynamo_component_router_time_to_first_token_seconds', [0.99], { as: 'first token' }),
        q.percentiles('dynamo_component_router_inter_token_latency_seconds', [0.99], { as: 'between tokens' }),
      ],
    ),
  ]);
}

function cost(q: ServerQueries): RowSpec {
  return detailsRow(5, 'Routing overhead', [
    lines(
      'Routing overhead',
      'Time of a whole routing decision and of its parts, which partly run in parallel and do not add up. A few milliseconds are normal; with more, the frontend is short of CPU.',
      [
        q.percentiles('dynamo_router_overhead_total_ms', [0.5, 0.99], { as: 'total' }),
        q.percentiles('dynamo_router_overhead_scheduling_ms', [0.99], { as: 'scheduling' }),
        q.percentiles('dynamo_router_overhead_indexer_find_matches_ms', [0.99], { as: 'index' }),
        q.percentiles('dynamo_router_overhead_block_hashing_ms', [0.99], { as: 'block hashing' }),
        q.percentiles('dynamo_router_overhead_seq_hashing_ms', [0.99], { as: 'sequence hashing' }),
        q.percentiles('dynamo_router_overhead_shared_cache_query_ms', [0.99], { as: 'shared cache' }),
      ],
    ),
    lines('Lengths at the router', 'Prompt and output length of routed requests.', [
      q.percentiles('dynamo_component_router_input_sequence_tokens', [0.5], { as: 'prompt' }),
      q.percentiles('dynamo_component_router_output_sequence_tokens', [0.5], { as: 'output' }),
    ]),
    lines('KV transfer, upper bound', 'Upper bound of the time of the transfer from prefill to decode.', [
      q.percentiles('dynamo_component_router_kv_transfer_estimated_latency_seconds', [0.5, 0.99]),
    ]),
    lines(
      'Shared cache hits',
      "Share of a request's blocks that the shared cache holds.",
      [q.mean('dynamo_component_router_shared_cache_hit_rate', { as: 'mean' })],
      { max: 1 },
    ),
    lines(
      'Shared cache beyond the worker',
      'Blocks that the shared cache has and the selected worker does not have: what a transfer could save.',
      [q.mean('dynamo_component_router_shared_cache_beyond_blocks', { as: 'mean' })],
    ),
    lines(
      'Failures of the shared cache and the remote index',
      'Above 0, the router decides without this information.',
      [
        q.rate('dynamo_router_shared_cache_errors_total', { as: 'shared cache', unit: 'errors' }),
        q.rate('dynamo_component_router_remote_indexer_query_failures_total', { as: 'index queries', unit: 'errors' }),
        q.rate('dynamo_component_router_remote_indexer_write_failures_total', { as: 'index writes', unit: 'errors' }),
      ],
    ),
  ]);
}

function events(q: ServerQueries): RowSpec {
  return detailsRow(6, "KV events: router view of the workers' caches", [
    lines('Events applied', 'By result. With any result other than ok, the index no longer matches the workers.', [
      q.rate('dynamo_component_kv_cache_events_applied', { by: ['status'], as: '' }),
    ]),
    lines('Events of the publishers', 'Events received, then accepted. A growing gap means lost events.', [
      q.rate('dynamo_component_kv_publisher_zmq_events_total', { by: ['stage'], as: '' }),
    ]),
    lines(
      'Events lost, filtered or not understood',
      'With events lost in the engine or not converted, the router decides on wrong data. Filtered events are left out on purpose.',
      [
        q.rate('dynamo_component_kv_publisher_engines_dropped_events_total', { as: 'lost in the engine' }),
        q.rate('dynamo_component_kv_publisher_zmq_conversion_issues_total', { as: 'not understood' }),
        q.rate('dynamo_component_kv_publisher_zmq_filtered_events_total', { as: 'filtered' }),
        q.rate('dynamo_component_kv_publisher_zmq_suspicious_events_total', { as: 'suspicious' }),
      ],
    ),
  ]);
}
