/**
 * The client's side of the stream benchmark: drives the real reader, transport and closed loop against a paced server whose
 * events carry, in their id, the CLOCK_MONOTONIC nanosecond at which they were written. Prints one JSON line.
 *
 * usage: node bench/stream-client.ts <port> <streams> <tokens> <ttft µs> <itl µs> <tick µs> <warm s> <seconds>
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { chat } from '../exporter/bench/endpoints/chat.ts';
import { runBenchmark } from '../exporter/bench/run-benchmark.ts';
import { RunControls } from '../exporter/bench/run-controls.ts';
import { syntheticDataset } from '../exporter/bench/synthetic-dataset.ts';
import { UndiciTransport } from '../exporter/bench/undici-transport.ts';
import { liveObservers } from './stream-observers.ts';
import { StampErrors } from './stream-stamp-errors.ts';

const [port, streams, tokens, ttft, itl, tick, warmSeconds, seconds] = process.argv.slice(2).map(Number);
if (
  port === undefined ||
  streams === undefined ||
  tokens === undefined ||
  warmSeconds === undefined ||
  seconds === undefined
) {
  throw new Error('usage: stream-client.ts port streams tokens ttft_us itl_us tick_us warm_s seconds');
}
const jitter = process.env.JIT ?? itl;
const origin = `http://127.0.0.1:${port}`;
const transport = new UndiciTransport({ origin });
const errors = new StampErrors(transport);
const controls = new RunControls();

const run = runBenchmark(
  {
    form: {
      endpoint: chat,
      path: `${chat.path}?n=${tokens}&t=${ttft}&i=${itl}&y=${tick}&j=${jitter}`,
      headers: { 'content-type': 'application/json' },
      dataset: syntheticDataset({ inputTokens: 40, outputTokens: tokens, seed: 1 }),
      options: { model: 'm', sampling: {}, includeUsage: true },
    },
    concurrency: streams,
    warmupRequestCount: 0,
    requestCount: null,
    durationSeconds: 3600,
    gracePeriodSeconds: 30,
    requestTimeoutSeconds: 3600,
    idleTimeoutSeconds: 0,
    maxConsecutiveErrors: 50,
    failedRequestThreshold: null,
    secrets: [],
  },
  { transport: errors, observers: liveObservers(), controls },
);

await sleep(warmSeconds * 1000);
errors.reset();
const cpuAtStart = process.cpuUsage();
const start = performance.now();
await sleep(seconds * 1000);
const cpu = process.cpuUsage(cpuAtStart);
const elapsed = (performance.now() - start) / 1000;
const measured = errors.summary();
controls.abort();
const outcome = await run;
const failed = outcome.phases.reduce((sum, phase) => sum + phase.requests.error, 0);
if (failed > 0) console.error(outcome.failure, outcome.phases);
console.log(
  JSON.stringify({
    name: 'llmbench',
    cpu_us_per_chunk: Number(((cpu.user + cpu.system) / Math.max(1, measured.chunks)).toFixed(2)),
    chunks_per_s: Math.round(measured.chunks / elapsed),
    err_p50_ms: measured.p50_ms,
    err_p99_ms: measured.p99_ms,
    err_p999_ms: measured.p999_ms,
    rss_mb: Math.round(process.memoryUsage.rss() / 1e6),
    failed,
  }),
);
await transport.close();
