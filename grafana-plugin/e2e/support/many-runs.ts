import type { KeyDistribution, RunSummary } from '../../../core/api/runs.ts';

const START_MS = Date.parse('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;

/** So many finished runs, an hour apart, the newest first. */
export function manyRuns(count: number): RunSummary[] {
  return Array.from({ length: count }, (_, i) => run(count - 1 - i));
}

function run(index: number): RunSummary {
  const start = new Date(START_MS + index * HOUR_MS).toISOString();
  const end = new Date(START_MS + index * HOUR_MS + 60_000).toISOString();
  const latency = (seconds: number): KeyDistribution => ({
    definition: 'd',
    n: 500,
    mean: seconds,
    p50: seconds,
    p90: seconds * 2,
    p99: seconds * (3 + (index % 7) / 10),
  });
  return {
    run_id: `run-${index}`,
    status: 'completed',
    scenario: `scenario ${index % 20}`,
    model: 'model',
    endpoint_type: 'chat',
    load: 'concurrency 8',
    dataset: null,
    system: 'vllm',
    system_version: null,
    origin: 'http://127.0.0.1:8000',
    tool: 'llmbench',
    tool_version: '0.1.0',
    fingerprint: `f${index % 20}`,
    group_id: null,
    step: null,
    repeat: null,
    tags: [],
    recovered: false,
    failure: null,
    start,
    imported_at: null,
    import_position: null,
    end,
    duration_seconds: 60,
    measure_start: start,
    measure_end: end,
    phases: [{ phase: 'measure', start, end }],
    stages: [],
    target_changes: [],
    progress: null,
    verdict: null,
    numbers: {
      requests: { ok: 500, error: 0, timeout: 0, cancelled: 0 },
      time_to_first_token_seconds: latency(0.1),
      inter_token_latency_seconds: latency(0.01),
      request_latency_seconds: latency(1),
      request_throughput: 8.3,
      output_token_throughput: 260 + (index % 11),
      document_throughput: null,
      error_ratio: 0,
      goodput: null,
      good_request_ratio: null,
      client_verdict: 'ok',
      slos: null,
    },
  };
}
