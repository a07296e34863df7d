import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FinishedRun, TestSource } from './test-source.ts';

const RUN_SECONDS = 12;
/** Requests per second, all of them alike. */
const RATE = 20;

/** Hand-made pages of a run and a vLLM server that move with time, for as long as the real programs do not exist. */
export async function startPages(): Promise<TestSource> {
  const start = Date.now() / 1000;
  const elapsed = (): number => Math.min(Date.now() / 1000 - start, RUN_SECONDS);
  const address = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  let finalScrapes = 0;
  const server = createServer((request, response) => {
    const targets = (job: string, path: string) => ({
      targets: [address()],
      labels: { job, __metrics_path__: path },
    });
    if (request.url === '/sd') {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify([targets('llmbench-run', '/run'), targets('vllm', '/vllm')]));
      return;
    }
    response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    if (request.url === '/metrics') response.end('llmbench_build_info{version="0"} 1\n');
    else if (request.url === '/vllm') response.end(vllmPage(elapsed()));
    else {
      if (elapsed() === RUN_SECONDS) finalScrapes += 1;
      response.end(runPage(start, elapsed()));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const run = async (): Promise<FinishedRun> => {
    while (finalScrapes < 2) await new Promise((resolve) => setTimeout(resolve, 200));
    return { runId: RUN_ID, startSeconds: start, endSeconds: start + RUN_SECONDS };
  };
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { exporterAddress: address(), run, stop };
}

const RUN_ID = '20261121T120000Z-abcdefghij';
const LABELS = `run_id="${RUN_ID}",shard="0"`;

function histogram(name: string, labels: string, bounds: readonly number[], count: number): string {
  const bucket = (le: string, value: number): string => `${name}_bucket{${labels},le="${le}"} ${value}\n`;
  const rows = bounds.map((bound, index) => bucket(String(bound), Math.floor((count * (index + 1)) / bounds.length)));
  const total = `${name}_sum{${labels}} ${count * (bounds[0] ?? 1)}\n${name}_count{${labels}} ${count}\n`;
  return `# TYPE ${name} histogram\n${rows.join('')}${bucket('+Inf', count)}${total}`;
}

function runPage(start: number, elapsed: number): string {
  const done = Math.floor(elapsed * RATE);
  const ended = elapsed === RUN_SECONDS;
  const bounds = [0.05, 0.1, 0.2, 0.4];
  const histograms = [
    'time_to_first_token',
    'time_to_first_token_from_due',
    'inter_token_latency',
    'inter_chunk_latency',
    'request_latency',
  ].map((name) => histogram(`llmbench_${name}_seconds`, LABELS, bounds, done));
  const facts = 'scenario="pages",model="tiny",endpoint_type="chat",system="vllm",load="concurrency=8"';
  const edges = `llmbench_run_phase_start_timestamp_seconds{${LABELS},phase="measure"} ${start}\n`;
  const end = `llmbench_run_phase_end_timestamp_seconds{${LABELS},phase="measure"} ${start + RUN_SECONDS}\n`;
  return [
    `llmbench_run_info{run_id="${RUN_ID}",${facts}} 1\n`,
    `llmbench_run_phase{run_id="${RUN_ID}",phase="measure"} ${ended ? 0 : 1}\n`,
    edges,
    ended ? end : '',
    `llmbench_requests_total{${LABELS},phase="measure",outcome="ok"} ${done}\n`,
    `llmbench_requests_total{${LABELS},phase="measure",outcome="error"} 0\n`,
    `llmbench_requests_total{${LABELS},phase="measure",outcome="timeout"} 0\n`,
    `llmbench_request_errors_total{${LABELS},phase="measure",reason="reset"} 0\n`,
    `llmbench_output_tokens_total{${LABELS},phase="measure"} ${done * 32}\n`,
    `llmbench_requests_in_flight{${LABELS}} ${ended ? 0 : 8}\n`,
    ...histograms,
  ].join('');
}

function vllmPage(elapsed: number): string {
  const labels = 'engine="0",model_name="tiny"';
  const done = Math.floor(elapsed * RATE);
  return [
    `vllm:num_requests_running{${labels}} 8\n`,
    `vllm:num_requests_waiting{${labels}} 0\n`,
    `vllm:kv_cache_usage_perc{${labels}} 0.25\n`,
    `vllm:generation_tokens_total{${labels}} ${done * 32}\n`,
    ...[
      'time_to_first_token_seconds',
      'request_time_per_output_token_seconds',
      'inter_token_latency_seconds',
      'e2e_request_latency_seconds',
      'request_queue_time_seconds',
    ].map((name) => histogram(`vllm:${name}`, labels, [0.04, 0.08, 0.25, 0.5], done)),
  ].join('');
}
