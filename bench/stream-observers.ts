import type { RunFile } from '../core/run/run.ts';
import type { RunObserver } from '../exporter/bench/observer.ts';
import { createLiveMetrics } from '../exporter/publish/live-metrics.ts';

const RUN: RunFile = {
  schema_version: 1,
  run_id: '20260101T000000Z-streambench',
  status: 'running',
  recovered: false,
  scenario: 'stream benchmark',
  comparison_key: {
    endpoint_type: 'chat',
    model: 'm',
    load: { mode: 'concurrency', concurrency: null, request_rate: null, arrival_pattern: null },
    stop: { request_count: null, benchmark_duration_seconds: null },
    warmup: { request_count: 0 },
    dataset_plan_sha256: null,
    sampling: {},
    streaming: true,
    measure_definitions: {},
  },
  fingerprint: '',
  group_id: null,
  step: null,
  repeat: null,
  shard: '0',
  target: { origin: 'http://127.0.0.1', system: null, system_version: null },
  tool: { name: 'llmbench', version: '0' },
  start: '2026-01-01T00:00:00.000Z',
  end: null,
  phases: [],
  process: null,
  failure: null,
};

/** Who observes a run in the whole program: the live metrics. */
export function liveObservers(): readonly RunObserver[] {
  return [createLiveMetrics({ run: RUN, version: '0' })];
}
