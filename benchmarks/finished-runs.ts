import { closedLoop } from '../core/run/load.ts';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { catalogs } from '../catalog/load.ts';
import { quantities } from '../catalog/equivalents.ts';
import { NOT_COUNTED, NOT_TRACED } from '../core/run/record.ts';
import type { RequestRecord } from '../core/run/record.ts';
import { PERCENTILE_NAMES } from '../core/stats/percentiles.ts';
import type { SeriesSummary, ServersFile } from '../core/run/servers-file.ts';
import { writeChecksums } from '../exporter/store/sealed/checksums.ts';
import { UNKNOWN_HEALTH } from '../exporter/store/sealed/seal-run.ts';
import { storedResult } from '../exporter/store/sealed/stored-measures.ts';
import { openStore } from '../exporter/store/run-store.ts';
import type { RunPlan } from '../exporter/store/run-writer.ts';

const REQUESTS = 500;
const CHUNKS = 100;
const TARGET = 'http://127.0.0.1:8000/metrics';
const HOUR_MS = 3_600_000;
const FIRST_START = Date.parse('2026-01-01T00:00:00Z');

/** Writes runs of 500 streams of 100 chunks against a vLLM with every family that its catalog has, an hour apart. */
export async function writeFinishedRuns(directory: string, count: number): Promise<void> {
  const first = await writeRun(directory, 0);
  await writeFile(join(first, 'servers.json'), JSON.stringify(serversFile()));
  await writeChecksums(first);
  for (let n = 1; n < count; n++) await copyRun(directory, n);
}

/** Adds the n-th run as a copy of the first with a name and times of its own. */
export async function copyRun(directory: string, n: number): Promise<void> {
  const { store } = await openStore(directory);
  const folder = store.pathOf(nameOf(n));
  await mkdir(folder);
  await cp(store.pathOf(nameOf(0)), folder, { recursive: true });
  const run = await store.readRun(nameOf(0));
  const start = startOf(n);
  await writeFile(
    join(folder, 'result.json'),
    JSON.stringify(storedResult({ ...(await store.readResult(nameOf(0))), run_id: nameOf(n) })),
  );
  await writeFile(join(folder, 'run.json'), JSON.stringify({ ...run, run_id: nameOf(n), start, end: start }));
  await writeChecksums(folder);
}

const nameOf = (n: number): string => `bench-${n}`;
const startOf = (n: number): string => new Date(FIRST_START + n * HOUR_MS).toISOString();

/** The plan of a made-up run of streams of chat completions. */
export function benchPlan({ runId, model, load, requests, system, start }: BenchRun): RunPlan {
  return {
    run_id: runId,
    scenario: 'bench',
    comparison_key: {
      endpoint_type: 'chat',
      model,
      load,
      cancellation: null,
      stop: { request_count: requests, benchmark_duration_seconds: null },
      warmup: null,
      dataset_plan_sha256: null,
      sampling: {},
      streaming: true,
      measure_definitions: {},
    },
    gates: null,
    group_id: null,
    step: null,
    repeat: null,
    shard: '0',
    target: { origin: 'http://127.0.0.1:8000', system, system_version: null },
    tool: { name: 'llmbench', version: 'bench' },
    start,
  };
}

interface BenchRun {
  readonly runId: string;
  readonly model: string;
  readonly load: ReturnType<typeof closedLoop>;
  readonly requests: number;
  readonly system: string | null;
  readonly start: string;
}

async function writeRun(directory: string, n: number): Promise<string> {
  const { store } = await openStore(directory);
  const load = closedLoop(8);
  const writer = await store.begin(
    benchPlan({
      ...{ runId: nameOf(n), load, requests: REQUESTS, start: startOf(n) },
      ...{ model: 'meta-llama/Llama-3.1-8B-Instruct', system: 'vllm' },
    }),
  );
  for (let index = 0; index < REQUESTS; index++) writer.requestEnded(record(index));
  await writer.finish({ status: 'completed', failure: null, phases: [], health: UNKNOWN_HEALTH, end: startOf(n) });
  return writer.path;
}

function record(index: number): RequestRecord {
  const sent_ns = Math.floor(index / 8) * 1_000_000_000;
  const chunk_offsets_ns = Array.from(
    { length: CHUNKS },
    (_, i) => 50_000_000 + i * 9_000_000 + ((i * 7919) % 1_000_000),
  );
  const last = chunk_offsets_ns.at(-1) ?? 0;
  return {
    index,
    phase: 'measure',
    due_ns: sent_ns,
    sent_ns,
    first_content_ns: sent_ns + 50_000_000 + index * 1000,
    first_output_ns: sent_ns + 50_000_000 + index * 1000,
    last_content_ns: sent_ns + last,
    end_ns: sent_ns + last + 1_000_000,
    connection_reused: true,
    connect_ns: null,
    connection_retried: false,
    outcome: 'ok',
    reason: null,
    http_status: 200,
    input_tokens: 512,
    input_tokens_source: 'usage',
    output_tokens: CHUNKS,
    output_tokens_source: 'usage',
    reasoning_tokens: null,
    cached_tokens: null,
    requested_output_tokens: CHUNKS,
    chunk_offsets_ns,
    ...NOT_TRACED,
    ...NOT_COUNTED,
  };
}

/** Of all families of vLLM's catalog those of the common vocabulary are published; the others are read and ignored. */
function serversFile(): ServersFile {
  const families = catalogs().find(({ system }) => system === 'vllm')?.families ?? [];
  const start = startOf(0);
  return {
    schema_version: 1,
    run_id: nameOf(0),
    definitions: 'llmbench',
    window: { start, end: start, seconds: 60 },
    interval_seconds: 1,
    targets: [],
    series: families.flatMap(({ name, type, unit, buckets }) =>
      type === 'counter' || type === 'gauge' || type === 'histogram'
        ? [series(name, type, unit, Array.isArray(buckets) ? (buckets as readonly number[]) : [0.1, 1, 10])]
        : [],
    ),
  };
}

function series(
  family: string,
  type: 'counter' | 'gauge' | 'histogram',
  unit: string,
  bounds: readonly number[],
): SeriesSummary {
  return {
    target: TARGET,
    family,
    type,
    unit,
    per: null,
    description: `What ${family} reports.`,
    labels: { engine: '0', model_name: 'meta-llama/Llama-3.1-8B-Instruct' },
    repeats: null,
    no_values: 0,
    statistics: STATISTICS[type](bounds),
    slices: null,
  };
}

const everyPercentile = <T>(value: T): Record<(typeof PERCENTILE_NAMES)[number], T> =>
  Object.fromEntries(PERCENTILE_NAMES.map((name) => [name, value])) as Record<(typeof PERCENTILE_NAMES)[number], T>;

const STATISTICS = {
  counter: () => ({ kind: 'counter', increase: 51_200, rate_per_second: 853.3, resets: 0 }),
  gauge: () => ({
    kind: 'gauge',
    mean: 7.25,
    min: 0,
    max: 8,
    std: 0.5,
    n: 60,
    longest_gap_seconds: 1,
    percentiles: everyPercentile(8),
  }),
  histogram: (bounds: readonly number[]) => ({
    kind: 'histogram',
    count: 500,
    sum: 123.4,
    mean: 0.2468,
    rate_per_second: 8.3,
    resets: 0,
    infeasible_sum: false,
    non_monotonic_buckets: false,
    percentiles: everyPercentile({ estimate: 0.2, bounds: [0.1, 0.5], bounds_by_sum: null } as const),
    buckets: [...bounds.map((bound, i): [string, number] => [String(bound), Math.min(500, i * 40)]), ['+Inf', 500]],
  }),
} as const satisfies Record<string, (bounds: readonly number[]) => SeriesSummary['statistics']>;

/** How many families of vLLM every run publishes. */
export const PUBLISHED_FAMILIES = new Set(
  quantities().flatMap(({ families }) => families.flatMap(({ system, family }) => (system === 'vllm' ? [family] : []))),
).size;
