import type { PageEntries } from '../metrics/page-families.ts';

/** What the runtime of a worker of Dynamo 1.4.2 registers. */
export const WORKER_PAGE: PageEntries = [
  ['dynamo_component_cancellation_total', 'Total number of requests cancelled by work handler'],
  ['dynamo_component_inflight_requests', 'Number of requests currently being processed by work handler'],
  [
    'dynamo_component_kv_publisher_engines_dropped_events_total',
    'Total number of raw events dropped by engines before reaching publisher (detected via event_id gaps)',
  ],
  ['dynamo_component_request_bytes_total', 'Total number of bytes received in requests by work handler'],
  ['dynamo_component_request_duration_seconds', 'Time spent processing requests by work handler'],
  ['dynamo_component_requests_total', 'Total number of requests processed by work handler'],
  ['dynamo_component_response_bytes_total', 'Total number of bytes sent in responses by work handler'],
  ['dynamo_component_uptime_seconds', 'Total uptime of the DistributedRuntime in seconds'],
  ['dynamo_engine_request', 'Current number of requests being handled by the engine (--engine-request-limit)'],
  [
    'dynamo_rejection_request_total',
    'Requests rejected because the worker is at capacity (engine in-flight limit and Dynamo queue both full)',
  ],
  [
    'dynamo_request_queue',
    'Current number of requests queued in Dynamo not yet in the engine (--dynamo-request-queue-limit)',
  ],
  [
    'dynamo_work_handler_enqueue_rejected_total',
    'Times enqueuing work failed because the dispatcher channel was closed',
  ],
  [
    'dynamo_work_handler_network_transit_seconds',
    'Frontend-to-backend network transit time (cross-process wall-clock, seconds)',
  ],
  ['dynamo_work_handler_permit_wait_seconds', 'Time spent waiting for a worker-pool permit (seconds)'],
  ['dynamo_work_handler_pool_active_tasks', 'Current number of active worker-pool tasks (permits in use)'],
  ['dynamo_work_handler_pool_capacity', 'Configured worker-pool capacity (total permits)'],
  ['dynamo_work_handler_queue_capacity', 'Configured capacity of the bounded work queue'],
  ['dynamo_work_handler_queue_depth', 'Current items in the bounded work queue awaiting dispatcher pickup'],
  [
    'dynamo_work_handler_time_to_first_response_seconds',
    'Backend processing time from handle_payload entry to prologue sent (seconds)',
  ],
  // Born with the first error.
  ['dynamo_component_errors_total', 'Total number of errors in work handler processing'],
  // With the ZMQ relay between the engine's KV events and the publisher.
  ['dynamo_component_kv_publisher_zmq_events_total', 'Total number of ZMQ KV events seen by the relay, by stage'],
  [
    'dynamo_component_kv_publisher_zmq_filtered_events_total',
    'Total number of ZMQ KV events filtered out before conversion',
  ],
  [
    'dynamo_component_kv_publisher_zmq_conversion_issues_total',
    'Total number of ZMQ KV events dropped because they could not be converted',
  ],
  [
    'dynamo_component_kv_publisher_zmq_suspicious_events_total',
    'Total number of suspicious ZMQ KV events that were forwarded',
  ],
];

/** What the Python part of a worker adds of its own, in the text of the Python client. */
export const WORKER_PYTHON_PAGE: PageEntries = [
  ['dynamo_component_total_blocks', 'Total number of KV cache blocks available on the worker.'],
  ['dynamo_component_gpu_cache_usage_percent', 'GPU KV cache usage as a percentage (0.0-1.0).'],
  ['dynamo_component_model_load_time_seconds', 'Model load time in seconds.'],
  // With a multimodal embedding cache: there is one, and no request has pictures.
  ['dynamo_component_embedding_cache_hits_total', 'Total number of embedding cache hits.'],
  ['dynamo_component_embedding_cache_misses_total', 'Total number of embedding cache misses.'],
  ['dynamo_component_embedding_cache_evictions_total', 'Total number of embedding cache evictions.'],
  ['dynamo_component_embedding_cache_utilization', 'Embedding cache utilization (0.0-1.0).'],
  ['dynamo_component_embedding_cache_current_bytes', 'Memory used by the embedding cache in bytes.'],
  ['dynamo_component_embedding_cache_entries', 'Number of entries in the embedding cache.'],
];
