import { detailsRow, lines, type RowSpec } from '../server/panel-spec.ts';
import type { ServerQueries } from '../server/server-queries.ts';

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
