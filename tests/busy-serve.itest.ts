import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addRun } from '../exporter/store/changes/add-run.ts';
import { addedRun } from '../exporter/store/fixtures/added-run.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { announced, start, type Started } from './llmbench.ts';

/** So many clients ask at once for what takes some time each. */
const CLIENTS = 80;
const REQUESTS = 4_000;
const HEALTH_CHECKS = 5;

let folder = '';
let serve: Started | null = null;
let url = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-busy-'));
  await addRun((await openStore(folder)).store, addedRun('r1', {}, REQUESTS));
  serve = start(['serve', '--runs-dir', folder, '--port', '0', '--json']);
  ({ url } = await announced(serve));
});

afterAll(async () => {
  serve?.child.kill('SIGTERM');
  await serve?.ended;
  await rm(folder, { recursive: true });
});

const HEAVY = [
  'records?limit=100000',
  'distribution?measure=request_latency',
  'distribution?measure=inter_chunk_latency',
];

/** The status of a response that is read to its end, on a connection of its own. */
async function statusOf(path: string): Promise<number> {
  const [response] = (await once(get(`${url}${path}`, { agent: false }), 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode ?? 0;
}

test('serve is healthy while 80 clients wait for heavy reads, and answers them in turn', async () => {
  const statuses: number[] = [];
  const reads = Array.from({ length: CLIENTS }, async (_, i) => {
    statuses.push(await statusOf(`/api/v1/runs/r1/${HEAVY[i % HEAVY.length]}`));
  });
  // Some have been answered: the others are being read, or wait for a place.
  await Promise.race(reads);
  for (let check = 0; check < HEALTH_CHECKS; check++) expect(await statusOf('/-/healthy')).toBe(200);
  // A check that waited for the reads before it would come after most of them. How long it takes depends on the machine.
  expect(statuses.length).toBeLessThan(CLIENTS / 2);
  await Promise.all(reads);
  expect(statuses.length).toBe(CLIENTS);
  // On a machine that takes minutes for them, the last ones get a 503.
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
});
