import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addRun } from '../exporter/store/changes/add-run.ts';
import { addedRun } from '../exporter/store/fixtures/added-run.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { announced, start, type Started } from './llmbench.ts';

/** So many clients ask at once for what takes some tenths of a second each. */
const CLIENTS = 200;
const REQUESTS = 40_000;
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

test('serve is healthy while 200 clients wait for heavy reads, and answers them in turn', async () => {
  const statuses: number[] = [];
  const reads = Array.from({ length: CLIENTS }, async (_, i) => {
    const response = await fetch(`${url}/api/v1/runs/r1/${HEAVY[i % HEAVY.length]}`);
    await response.arrayBuffer();
    statuses.push(response.status);
  });
  // Some have been answered: the others are being read, or wait for a place.
  await Promise.race(reads);
  for (let check = 0; check < HEALTH_CHECKS; check++) expect((await fetch(`${url}/-/healthy`)).status).toBe(200);
  // A check that waited for the reads before it would come after most of them. How long it takes depends on the machine.
  expect(statuses.length).toBeLessThan(CLIENTS / 2);
  await Promise.all(reads);
  expect(statuses).toEqual(Array.from({ length: CLIENTS }, () => 200));
});
