/**
 * What counting one chunk costs, in nanoseconds of CPU time. Prints one JSON line.
 * live: the live metrics of a run; prom-client: its own histogram with the same bounds and labels, the child bound once.
 *
 * usage: node bench/token-recorder.ts live|prom-client
 */
import { Histogram, Registry } from 'prom-client';
import { LIVE_GRIDS } from '../core/measures/grids.ts';
import { createLiveMetrics } from '../exporter/publish/live-metrics.ts';
import { runFile } from '../exporter/publish/fixtures/run.ts';

const MEASURE_MS = 1000;
const BATCH = 4096;
/** Gaps of 1 to 200 ms, spread evenly over the logarithm as over the buckets, in an order that repeats late. */
const GAPS_NS = Float64Array.from({ length: BATCH }, (_, i) => 1e6 * 200 ** (((i * 2654435761) % BATCH) / BATCH));

console.log(JSON.stringify(process.argv[2] === 'live' ? liveMetrics() : promClient()));

function liveMetrics(): { chunk_ns: number; first_chunk_ns: number } {
  const live = createLiveMetrics({ run: runFile(), version: '0' });
  live.phaseStarted('measure', 0);
  return {
    chunk_ns: cpuOf((gap_ns) => live.chunkGap('measure', gap_ns)),
    first_chunk_ns: cpuOf((gap_ns) => live.firstContent('measure', gap_ns, gap_ns)),
  };
}

function promClient(): { chunk_ns: number } {
  const histogram = new Histogram({
    name: 'gap_seconds',
    help: 'gaps',
    labelNames: ['run_id', 'shard'],
    buckets: [...LIVE_GRIDS.inter_chunk_latency],
    registers: [new Registry()],
  });
  const child = histogram.labels({ run_id: 'r', shard: '0' });
  return { chunk_ns: cpuOf((gap_ns) => child.observe(gap_ns / 1e9)) };
}

/** CPU nanoseconds per call, after the compiler has seen it. */
function cpuOf(record: (gap_ns: number) => void): number {
  repeat(record, MEASURE_MS / 2);
  const before = process.cpuUsage();
  const calls = repeat(record, MEASURE_MS);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / calls;
}

function repeat(record: (gap_ns: number) => void, milliseconds: number): number {
  const end = performance.now() + milliseconds;
  let calls = 0;
  while (performance.now() < end) {
    for (const gap_ns of GAPS_NS) record(gap_ns);
    calls += BATCH;
  }
  return calls;
}
