import { cp, link, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { closedLoop } from '../core/run/load.ts';
import { NOT_COUNTED, NOT_TRACED, type RequestRecord } from '../core/run/record.ts';
import type { RunFile } from '../core/run/run.ts';
import { seededRandom } from '../core/stats/seeded-random.ts';
import { RunStore } from '../exporter/store/run-store.ts';
import { UNKNOWN_HEALTH } from '../exporter/store/sealed/seal-run.ts';
import { benchPlan } from '../benchmarks/finished-runs.ts';
import { shardDirectory } from '../exporter/store/run-paths.ts';

const START = '2026-01-02T03:04:05.000Z';
/** Of each shard. */
const STREAMS = 100;
/** The shards start at the same time by clocks that agree about so well. */
const STARTS_APART_MS = 1;
const MS = 1_000_000;

/** What the shards of a run hold. */
export interface ShardedRun {
  readonly runId: string;
  readonly shards: number;
  readonly requestsPerShard: number;
  readonly chunksPerRequest: number;
}

/**
 * Writes the finished shards of a run into a runs directory. They measured the same: the file of the records of the first is
 * linked to by the others, so that millions of requests are there in moments.
 */
export async function writeShards(runsDirectory: string, sharded: ShardedRun): Promise<void> {
  const { runId, shards, requestsPerShard } = sharded;
  const first = new RunStore(shardDirectory(runsDirectory, runId, '0'));
  await mkdir(first.directory, { recursive: true });
  const load = closedLoop(STREAMS * shards);
  const requests = requestsPerShard * shards;
  const writer = await first.begin({
    ...benchPlan({ runId, model: 'm', load, requests, system: null, start: START }),
    shards: { count: shards, missing: [] },
  });
  for (const record of recordsOf(sharded)) {
    writer.requestEnded(record);
    if (record.index % 1000 === 0) await writer.update({});
  }
  await writer.finish({ status: 'completed', failure: null, phases: [], health: UNKNOWN_HEALTH, end: START });
  for (let shard = 1; shard < shards; shard++) await copyShard(runsDirectory, runId, String(shard));
}

async function copyShard(runsDirectory: string, runId: string, shard: string): Promise<void> {
  const first = new RunStore(shardDirectory(runsDirectory, runId, '0'));
  const [from, to] = [first.pathOf(runId), join(shardDirectory(runsDirectory, runId, shard), runId)];
  await mkdir(dirname(to), { recursive: true });
  await cp(from, to, { recursive: true, filter: (path) => !path.endsWith('.parquet') });
  await mkdir(join(to, 'records'), { recursive: true });
  await link(join(from, 'records', '0.parquet'), join(to, 'records', `${shard}.parquet`));
  const start = new Date(Date.parse(START) + Number(shard) * STARTS_APART_MS).toISOString();
  const run: RunFile = { ...(await first.readRun(runId)), shard, start };
  await writeFile(join(to, 'run.json'), JSON.stringify(run));
}

/** Streams that send the next request when the last has ended; latencies are skewed, 1 of 500 requests fails. */
function* recordsOf({ requestsPerShard, chunksPerRequest }: ShardedRun): Generator<RequestRecord> {
  const random = seededRandom('sharded run');
  const free_ns = new Float64Array(STREAMS);
  for (let index = 0; index < requestsPerShard; index++) {
    const stream = index % STREAMS;
    const sent_ns = Math.round((free_ns[stream] ?? 0) + random() * MS);
    const first = Math.round((20 - 15 * Math.log(1 - random())) * MS);
    const failed = index % 500 === 499;
    const offsets: number[] = [];
    let at = first;
    for (let chunk = 0; chunk < chunksPerRequest && !failed; chunk++) {
      offsets.push(at);
      at += Math.round((8 - 2 * Math.log(1 - random())) * MS);
    }
    const last = offsets.at(-1) ?? null;
    const end_ns = sent_ns + (last ?? first) + MS;
    free_ns[stream] = end_ns;
    yield {
      index,
      phase: 'measure',
      due_ns: sent_ns,
      sent_ns,
      first_content_ns: last === null ? null : sent_ns + first,
      first_output_ns: last === null ? null : sent_ns + first,
      last_content_ns: last === null ? null : sent_ns + last,
      end_ns,
      connection_reused: index >= STREAMS,
      connect_ns: index < STREAMS ? 300_000 : null,
      connection_retried: false,
      outcome: failed ? 'error' : 'ok',
      reason: failed ? 'http_5xx' : null,
      http_status: failed ? 503 : 200,
      input_tokens: failed ? null : 512,
      input_tokens_source: failed ? null : 'usage',
      output_tokens: failed ? null : chunksPerRequest,
      output_tokens_source: failed ? null : 'usage',
      reasoning_tokens: null,
      cached_tokens: null,
      requested_output_tokens: chunksPerRequest,
      chunk_offsets_ns: offsets,
      ...NOT_TRACED,
      ...NOT_COUNTED,
    };
  }
}
