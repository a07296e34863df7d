import type { KeyNumbers, RunSummary } from '../src/exporter-api/types.ts';

const NUMBERS: KeyNumbers = {
  requests: { ok: 90, error: 6, timeout: 3, cancelled: 1 },
  time_to_first_token_seconds: {
    definition: 'sent_to_first_content_chunk',
    n: 90,
    mean: 0.1,
    p50: 0.09,
    p90: 0.2,
    p99: 0.4,
  },
  inter_token_latency_seconds: {
    definition: 'per_request_mean_from_usage',
    n: 90,
    mean: 0.02,
    p50: 0.02,
    p90: 0.03,
    p99: 0.04,
  },
  request_latency_seconds: null,
  request_throughput: 9,
  output_token_throughput: 288,
  error_ratio: 0.0909,
  goodput: null,
  good_request_ratio: null,
  client_verdict: 'ok',
  slos: null,
};

/** A finished run of ten seconds as the exporter returns it. */
export function runSummary(change: Partial<RunSummary> = {}): RunSummary {
  return {
    run_id: 'a',
    status: 'completed',
    scenario: 'chat',
    model: 'llama',
    endpoint_type: 'chat',
    load: 'concurrency 4',
    dataset: null,
    system: 'vllm',
    system_version: null,
    origin: 'http://127.0.0.1:8000',
    tool: 'llmbench',
    tool_version: '0.1.0',
    fingerprint: 'f1',
    group_id: null,
    step: null,
    repeat: null,
    tags: [],
    recovered: false,
    failure: null,
    start: '2026-11-21T10:00:00.000Z',
    end: '2026-11-21T10:00:10.000Z',
    duration_seconds: 10,
    measure_start: '2026-11-21T10:00:01.000Z',
    measure_end: '2026-11-21T10:00:10.000Z',
    phases: [{ phase: 'measure', start: '2026-11-21T10:00:01.000Z', end: '2026-11-21T10:00:10.000Z' }],
    progress: null,
    numbers: NUMBERS,
    verdict: null,
    ...change,
  };
}
