import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestRecord } from '../../core/run/record.ts';
import { servedAlone } from '../http/testing/served-alone.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import {
  response,
  GOOD_STREAM,
  scriptedServer,
  streamOf,
  type ScriptedServer,
} from '../load/testing/scripted-server.ts';
import { readOptions } from '../cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../cli/options/run-options.ts';
import { mergeShards } from '../store/shards/merge-shards.ts';
import { openStore } from '../store/run-store.ts';
import { performRun, type PerformedRun } from './perform-run.ts';
import type { RunRequest } from './run-request.ts';

let runs = '';
let server: ScriptedServer | null = null;
beforeAll(async () => {
  runs = await mkdtemp(join(tmpdir(), 'llmbench-sharded-run-'));
});
afterEach(() => server?.close());
afterAll(() => rm(runs, { recursive: true }));

const LOAD = ['--isl', '6', '--osl', '8', '--random-seed', '3', '--no-server-metrics', '--linger', 'no'];

async function perform(argv: readonly string[]): Promise<PerformedRun> {
  const where = ['--url', server?.origin ?? '', '--model', 'm', '--runs-dir', runs];
  const [request] = runRequests(readOptions(RUN_OPTIONS, [...where, ...LOAD, ...argv], {}));
  const host = { servePage: servedAlone, say: () => undefined, observe: () => ({ stop: () => undefined }) };
  return performRun(request as RunRequest, new RunControls(), host, '0.0.0');
}

/** Bodies of the requests of a run, without those of the probes, in alphabetical order. */
async function bodiesOf(probes: number, run: () => Promise<unknown>): Promise<readonly string[]> {
  server = await scriptedServer((socket, { head }) =>
    socket.write(head.startsWith('POST ') ? streamOf(GOOD_STREAM) : response('404 X', 'text/plain', '')),
  );
  await run();
  const bodies = server.requests.filter(({ head }) => head.startsWith('POST ')).map(({ body }) => body);
  await server.close();
  const [probe] = bodies;
  expect(bodies.filter((body) => body === probe)).toHaveLength(probes);
  return bodies.filter((body) => body !== probe).sort();
}

test.each([
  ['closed loop', ['--concurrency', '5', '--request-count', '23', '--warmup-request-count', '7']],
  ['rate', ['--request-rate', '200', '--request-count', '20']],
])(
  '%s: two shards send what one machine sends, from the common start on, and are merged into one run',
  async (name, argv) => {
    const before_ms = Date.now();
    const alone = await bodiesOf(1, () => perform(argv));
    const runId = name.replace(' ', '-');
    // As far away as a machine needs on which the shards take some times as long as the run alone has just taken.
    const startAt_ms = Date.now() + 2000 + 3 * (Date.now() - before_ms);
    const common = ['--run-id', runId, '--start-at', new Date(startAt_ms).toISOString(), '--workers', '1'];
    const shards = await bodiesOf(2, () =>
      Promise.all(['0/2', '1/2'].map((shard) => perform([...argv, ...common, '--shard', shard]))),
    );
    expect(shards).toEqual(alone);

    const { store } = await openStore(runs);
    const merged = await mergeShards(store, runId);
    expect(merged.result).toMatchObject({ status: 'completed', requests: { error: 0 } });
    const run = await store.readRun(runId);
    const records: RequestRecord[] = [];
    for await (const record of store.readRecords(run)) records.push(record);
    const indices = records.map(({ index }) => index).sort((a, b) => a - b);
    expect(indices).toEqual(alone.map((_, index) => index));
    const measured = records.filter(({ phase }) => phase === 'measure');
    const start_ns = (startAt_ms - Date.parse(run.start ?? '')) * 1e6;
    for (const { sent_ns, due_ns } of measured) {
      expect(due_ns).toBeGreaterThanOrEqual(start_ns);
      expect(sent_ns).toBeGreaterThanOrEqual(due_ns ?? NaN);
    }
  },
);
