import type { PageEntries } from '../../metrics/page-families.ts';

/** The families of a page of smg 1.13.0 under load, in the order of one page, with its HELP text. */
export const GATEWAY_PAGE: PageEntries = [
  [
    'smg_tokenizer_cache_reused_bytes_total',
    'UTF-8 input bytes served by tokenizer cache hits: whole inputs for L0, matched prefixes for L1; not memory usage',
  ],
  ['smg_tokio_event_loop_stalls_total', 'Event loop stalls (canary wake drift exceeded 5ms)'],
  ['smg_http_rate_limit_total', 'Rate limiting decisions by result (allowed/rejected)'],
  [
    'smg_tokenizer_cache_evictions_total',
    'Tokenizer cache entries removed for capacity; excludes clear, drop and replacement',
  ],
  ['smg_router_upstream_responses_total', 'Upstream backend HTTP responses by router_type, status_code, error_code'],
  ['smg_http_requests_total', 'Total HTTP requests by method and path'],
  [
    'smg_tokenizer_encode_path_loads_total',
    'Hugging Face tokenizers loaded, by the encode path chosen at load: v1 (the opt-in tokenizers v1 pipeline), native (the direct byte-level encoder) or tokenizers (the reference implementation); a tokenizer loaded twice counts twice',
  ],
  ['smg_worker_retries_total', 'Total retry attempts by worker_type and endpoint'],
  [
    'smg_http_responses_total',
    "Total HTTP responses by path, status_code and error_code, counted once the response has gone out in full (its last frame, or the length it declared); a request whose client closed the connection first counts as status_code 499 with error_code client_closed_request, as does the rare request the server dropped unanswered (a handler panic, a forced shutdown); a response whose body failed after its head (an upstream stream that broke mid-body) keeps its head's status_code with error_code stream_error, unless the head carried a gateway error code",
  ],
  [
    'smg_worker_overload_shed_total',
    'Requests shed because every worker for the model is overloaded, by stage (selection, dispatch)',
  ],
  ['smg_worker_retries_exhausted_total', 'Requests that exhausted all retries by worker_type and endpoint'],
  [
    'smg_tokenizer_cache_lookups_total',
    'Tokenizer cache lookups by layer and result; L1 includes inputs without cacheable boundaries and excludes L0 hits',
  ],
  [
    'smg_router_request_body_path_total',
    'Per-request body-path decisions by path (streamed/buffered) and dominant reason',
  ],
  [
    'smg_detokenize_prefix_mismatch_total',
    'Incremental decode steps and end-of-input finishes whose output no longer started with the text already decoded and went on with the remainder (several per stream are possible; unary responses count too), by kind: byte_run (an invalid byte collapsed a ByteFallback run whose characters were already decoded) or decoder (another decoder step rewrote the decoded prefix)',
  ],
  ['smg_worker_health_checks_total', 'Health check results by worker_type and result'],
  ['smg_worker_selection_total', 'Worker selection events by worker_type, connection_mode, model, policy'],
  [
    'smg_worker_overload_fallback_total',
    'Requests routed to the least-loaded worker because every worker for the model is overloaded and shedding is off, by stage',
  ],
  [
    'smg_worker_liveness_fallback_total',
    'Requests routed to the least-loaded ready worker because every worker for the model is vetoed and the ready ones are vetoed by the liveness tracker, by stage',
  ],
  [
    'smg_tokenizer_encode_fallbacks_total',
    "Inputs the direct byte-level encoder gave up to the reference implementation after the load's choice, by reason: not_nfc (text not in NFC under an NFC normalizer) or piece_declined (the model declined a piece)",
  ],
  [
    'smg_router_requests_total',
    "Total routed requests by router_type, backend_type, connection_mode, model, endpoint, streaming; model is the served model's id, unknown for a request that names no model, or other for a model the gateway does not serve",
  ],
  [
    'smg_cache_aware_policy_branch_total',
    'Cache-aware tree-mode selection branch (tree_match, spill, expected_wait_fallback, first_healthy_fallback)',
  ],
  [
    'smg_history_memory_records',
    'Records the in-memory history backend holds, by kind (responses, conversations, items); sampled every 10 s, memory backend only',
  ],
  ['smg_admission_inflight', 'Requests currently holding an admission token'],
  ['smg_tokio_global_queue_depth', 'Tasks currently queued in the tokio runtime global queue'],
  [
    'smg_log_dropped_lines',
    'Log lines the lossy writer queue dropped since the process started, by sink (stdout, file)',
  ],
  ['smg_tokio_alive_tasks', 'Tasks alive (spawned, not yet completed)'],
  ['smg_http_inflight_request_age_count', 'In-flight HTTP requests per age bucket (gt < age <= le, non-cumulative)'],
  ['smg_allocator_active_bytes', "Bytes in active pages for SMG's Rust jemalloc heap"],
  ['smg_allocator_resident_bytes', "Upper bound on resident bytes for SMG's Rust jemalloc heap"],
  ['smg_http_connections_active', 'Currently active HTTP connections'],
  ['smg_allocator_metadata_bytes', "Metadata bytes for SMG's Rust jemalloc instance"],
  ['smg_worker_pool_size', 'Current worker pool size by worker_type, connection_mode, model'],
  ['smg_allocator_allocated_bytes', "Bytes in live Rust allocations managed by SMG's jemalloc instance"],
  ['smg_tokio_workers', 'Worker threads used by the tokio runtime'],
  ['smg_http_request_duration_seconds', 'HTTP request duration by method and path'],
  ['smg_worker_retry_backoff_seconds', 'Retry backoff duration by attempt number'],
  [
    'smg_router_request_duration_seconds',
    'Router request duration by router_type, backend_type, connection_mode, model, endpoint',
  ],
  ['smg_tokio_event_loop_delay_seconds', 'Event loop delay canary: wake drift from a 10ms sleep (seconds)'],
  ['smg_cache_aware_match_ratio', 'Cache-aware tree-mode best prefix match ratio per request (matched/input, 0..1)'],
  [
    'smg_engine_load_polls_total',
    "Load-monitor tick decisions by worker and mode: poll (no pushed load record on file), fallback (pushed records older than the tick interval), skipped_fresh_push (the worker's KV-event stream pushed its load within the interval; no GetLoads RPC)",
  ],
  [
    'smg_tokio_worker_parks_total',
    'Times each worker has parked (gone idle); a near-zero rate under high busy ratio means sustained overload',
  ],
  [
    'smg_worker_cb_health_readmissions_total',
    "Times a worker's open circuit breaker went half-open because the worker's health returned (its promotion to Ready) rather than at the breaker's timeout, by worker",
  ],
  ['smg_worker_cb_outcomes_total', 'Circuit breaker outcomes by worker and outcome (success/failure)'],
  ['smg_worker_cb_transitions_total', 'Circuit breaker state transitions by worker, from, to'],
  ['smg_worker_requests_total', 'Requests dispatched to a worker by worker (URL) and model, counted at each send'],
  [
    'smg_tokio_worker_busy_ratio',
    'Fraction of the last sampling interval each worker spent busy (0.0-1.0; >0.95 = saturated)',
  ],
  ['smg_worker_cb_consecutive_failures', 'Current consecutive failure count per worker'],
  ['smg_worker_cb_consecutive_successes', 'Current consecutive success count per worker'],
  ['smg_worker_cb_state', 'Circuit breaker state per worker (0=closed, 1=open, 2=half_open)'],
  ['smg_worker_health', 'Worker health status (1=healthy, 0=unhealthy)'],
  ['smg_worker_http2', 'Whether the router speaks HTTP/2 to the worker (1=HTTP/2, 0=HTTP/1.1)'],
  ['smg_worker_requests_active', 'Currently running requests per worker'],
];
