import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { storeJudgedRun } from '../../exporter/judge/testing/judged-run.ts';
import {
  GOOD_STREAM,
  response,
  scriptedServer,
  streamOf,
  type ScriptedServer,
} from '../../exporter/load/testing/scripted-server.ts';
import { DiskQueue, queueName, queuesDirectory } from '../../exporter/publish/remote-write/disk-queue.ts';
import { labelPairs } from '../../exporter/publish/remote-write/pushed-series.ts';
import {
  receiverServer,
  takeAll,
  type ReceiverServer,
} from '../../exporter/publish/remote-write/testing/receiver-server.ts';
import { addRun, type AddedRun } from '../../exporter/store/changes/add-run.ts';
import { addedResult, addedRun, source as importedFrom } from '../../exporter/store/fixtures/added-run.ts';
import { examplePlan, exampleRecord } from '../../exporter/store/fixtures/example-run.ts';
import { UNKNOWN_HEALTH } from '../../exporter/store/sealed/seal-run.ts';
import { shardDirectory } from '../../exporter/store/run-paths.ts';
import { openStore } from '../../exporter/store/run-store.ts';

const IMPORT_FIXTURE = fileURLToPath(new URL('../../exporter/imports/guidellm/fixtures/v2.json', import.meta.url));
const RESPONSE_MS = 5;

/** What all trials share: servers, and a runs directory of which each trial gets a copy. */
export interface World {
  readonly folder: string;
  readonly server: ScriptedServer;
  /** When each response of the server had been written, by `performance.now()`. */
  readonly answeredAt_ms: readonly number[];
  readonly receiver: ReceiverServer;
  readonly importFile: string;
  /** A new copy of the prepared runs directory. */
  copy(name: string): Promise<string>;
  close(): Promise<void>;
}

export const STORED_RUNS = ['run-0', 'run-1', 'run-2', 'run-3'] as const;
/** Runs of another scenario, one a day, that can be written into Prometheus at their times. */
export const TIMED_RUNS = ['timed-0', 'timed-1'] as const;
export const SHARDED_RUN = 'sharded';
export const SHARDED_REQUESTS = 10;
export const WAITING_POINTS = 40;

export async function openWorld(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'llmbench-chaos-'));
  const answeredAt_ms: number[] = [];
  const server = await scriptedServer((socket, { head }) => {
    if (!head.startsWith('POST ')) return socket.write(response('404 X', 'text/plain', ''));
    return setTimeout(
      () => socket.write(streamOf(GOOD_STREAM), () => answeredAt_ms.push(performance.now())),
      RESPONSE_MS,
    );
  });
  const receiver = await receiverServer(takeAll);
  const prepared = join(folder, 'prepared');
  const { store } = await openStore(prepared);
  for (const [day, runId] of STORED_RUNS.entries()) {
    await storeJudgedRun(store, runId, day, { ttft: 0.1 + 0.001 * day });
  }
  for (const [day, runId] of TIMED_RUNS.entries()) await addRun(store, timedRun(runId, day));
  await writeShards(prepared);
  leaveSamples(prepared, receiver.url);
  return {
    ...{ folder, server, answeredAt_ms, receiver, importFile: IMPORT_FIXTURE },
    copy: async (name) => {
      await cp(prepared, join(folder, name), { recursive: true });
      return join(folder, name);
    },
    close: async () => {
      await Promise.all([server.close(), receiver.close()]);
      await rm(folder, { recursive: true });
    },
  };
}

function timedRun(runId: string, day: number): AddedRun {
  const [start = '', end = ''] = [0, 10].map((second) =>
    new Date(Date.UTC(2026, 0, 1 + day, 0, 0, second)).toISOString(),
  );
  const times = { start, end, phases: [{ phase: 'measure', start, end }] } as const;
  const source = importedFrom(Buffer.from(runId).toString('hex').padEnd(64, '0'));
  const added = addedRun(runId, { ...times, scenario: 'timed', source });
  return { ...added, result: { ...addedResult(added.run), window: { start, end, seconds: 10 } } };
}

/** Two finished shards of one run, which are not merged yet. */
async function writeShards(runs: string): Promise<void> {
  const start = '2026-01-02T03:04:05.000Z';
  const end = '2026-01-02T03:04:25.000Z';
  for (const shard of [0, 1]) {
    const { store } = await openStore(shardDirectory(runs, SHARDED_RUN, String(shard)));
    const writer = await store.begin(examplePlan({ run_id: SHARDED_RUN, shard: String(shard), start }));
    for (let index = shard; index < SHARDED_REQUESTS; index += 2) {
      writer.requestEnded({ ...exampleRecord(index), index, phase: 'measure' });
    }
    const phases = [{ phase: 'measure', start, end }] as const;
    await writer.finish({ status: 'completed', failure: null, phases, health: UNKNOWN_HEALTH, end });
  }
}

function leaveSamples(runs: string, url: string): void {
  const left = join(queuesDirectory(runs), queueName({ runId: 'run-0', shard: '0', owner: null }));
  const problem = (line: string): never => {
    throw new Error(line);
  };
  const queue = DiskQueue.create(left, { schema_version: 1, url }, { maxBytes: 1e6, problem });
  queue.declare(1, {
    families: [{ name: 'llmbench_requests_total', type: 'counter', help: 'Requests.' }],
    series: [{ family: 0, labels: labelPairs('llmbench_requests_total', { run_id: 'run-0' }) }],
    nativeSeries: [],
    created_ms: 500,
  });
  for (let i = 1; i <= WAITING_POINTS; i++) queue.append(1, { time_ms: 1000 * i, values: [i], native: [] });
  queue.close(left);
}
