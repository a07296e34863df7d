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

/** The frontend as a process: its text work, its event loop, its transport to the workers, its models. */
export function dynamoProcessRows(q: ServerQueries): RowSpec[] {
  return [frontend(q), transport(q)];
}

function frontend(q: ServerQueries): RowSpec {
  return detailsRow(10, 'Frontend process: text and event loop', [
    lines(
      'Tokenization and templates',
      'Time per request. If it grows, the frontend is short of CPU: run more frontends.',
      [
        q.percentiles('dynamo_frontend_tokenize_seconds', [0.99], { as: 'tokenize' }),
        q.percentiles('dynamo_frontend_template_seconds', [0.99], { as: 'template' }),
      ],
    ),
    lines('Tokenizer latency', 'By operation.', [
      q.percentiles('dynamo_frontend_tokenizer_latency_ms', [0.99], { by: ['operation'] }),
    ]),
    lines('Time to turn a token into text', 'Mean per token.', [
      q.ratio('dynamo_frontend_detokenize_total_us', 'dynamo_frontend_detokenize_token_count', {
        as: 'mean',
        unit: 'microseconds',
      }),
    ]),
    lines(
      'Event loop delay',
      'How late a timer fires. Above a few milliseconds, the frontend itself delays every stream.',
      [q.percentiles('dynamo_frontend_event_loop_delay_seconds', [0.5, 0.99])],
    ),
    lines('Event loop stalls', 'Times that the timer was more than 5 ms late.', [
      q.rate('dynamo_frontend_event_loop_stall_total', { as: 'stalls' }),
    ]),
    lines(
      'Worker threads: time per poll',
      'Mean time of one poll of a task. Long polls block all streams of a thread.',
      [q.highest('dynamo_tokio_worker_mean_poll_time_ns', { by: ['worker'], as: 'thread' })],
    ),
    lines(
      'Worker threads: busy',
      'Of 1000, derived from the time per poll, where 1 ms counts as saturated.',
      [q.highest('dynamo_tokio_worker_busy_ratio', { by: ['worker'], as: 'thread' })],
      { max: 1000 },
    ),
    lines(
      'Tasks',
      'Tasks alive, and those waiting in the queues of the runtime. If the waiting ones grow, there are too few threads.',
      [
        q.gauge('dynamo_tokio_alive_tasks', { as: 'alive' }),
        q.gauge('dynamo_tokio_global_queue_depth', { as: 'global queue' }),
        q.gauge('dynamo_tokio_blocking_queue_depth', { as: 'blocking queue' }),
        q.gauge('dynamo_tokio_worker_local_queue_depth', { as: 'local queues' }),
      ],
    ),
    lines('Threads of the blocking pool', 'All, and idle ones.', [
      q.gauge('dynamo_tokio_blocking_threads', { as: 'all' }),
      q.gauge('dynamo_tokio_blocking_idle_threads', { as: 'idle' }),
    ]),
    lines('Scheduling of tasks', 'Parking: threads without work. Stealing and overflowing: work is uneven.', [
      q.rate('dynamo_tokio_worker_park_count_total', { as: 'parks', unit: 'events' }),
      q.rate('dynamo_tokio_worker_steal_count_total', { as: 'steals', unit: 'events' }),
      q.rate('dynamo_tokio_worker_overflow_count_total', { as: 'overflows', unit: 'events' }),
    ]),
  ]);
}

function transport(q: ServerQueries): RowSpec {
  return detailsRow(11, 'Request plane and models', [
    lines(
      'To the workers and back',
      'Time to prepare a request, to send it, and to get its first response item. If sending grows, the network is slow or the queue of a worker is full.',
      [
        q.percentiles('dynamo_request_plane_queue_seconds', [0.99], { as: 'prepare' }),
        q.percentiles('dynamo_request_plane_send_seconds', [0.99], { as: 'send' }),
        q.percentiles('dynamo_request_plane_roundtrip_ttft_seconds', [0.99], { as: 'first item' }),
      ],
    ),
    lines('Requests at the workers', 'Dispatched and not finished.', [
      q.gauge('dynamo_request_plane_inflight_requests', { as: 'dispatched' }),
    ]),
    lines('Transport bytes', 'Of the TCP request plane.', [
      q.rate('dynamo_transport_tcp_bytes_sent_total', { as: 'sent' }),
      q.rate('dynamo_transport_tcp_bytes_received_total', { as: 'received' }),
    ]),
    lines('Transport errors', 'Sends that failed or timed out. Each is a lost or repeated request.', [
      q.rate('dynamo_transport_tcp_errors_total', { as: 'TCP', unit: 'errors' }),
      q.rate('dynamo_transport_nats_errors_total', { as: 'NATS', unit: 'errors' }),
    ]),
    lines(
      'Limits of a worker: requests',
      'Sequences that a worker runs at once, and how often a request may be moved.',
      [
        q.highest('dynamo_frontend_model_max_num_seqs', { as: 'sequences' }),
        q.highest('dynamo_frontend_model_migration_limit', { as: 'moves' }),
      ],
    ),
    lines('Limits of a worker: tokens', 'Context, tokens per step, tokens per block.', [
      q.highest('dynamo_frontend_model_context_length', { as: 'context' }),
      q.highest('dynamo_frontend_model_max_num_batched_tokens', { as: 'per step' }),
      q.highest('dynamo_frontend_model_kv_cache_block_size', { as: 'per block' }),
    ]),
    lines('Limits of a worker: KV blocks', 'Blocks of one worker.', [
      q.highest('dynamo_frontend_model_total_kv_blocks', { as: 'blocks' }),
    ]),
  ]);
}

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
      [q.gauge('dynamo_frontend_worker_active_prefill_tokens', { by: ['worker_id'], as: '' })],
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
