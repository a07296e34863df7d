import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { ResultFile } from '../core/run/result.ts';
import { start } from './llmbench.ts';
import { writeShards } from './sharded-run.ts';

jest.setTimeout(300_000);
const SHARDS = 10;
const REQUESTS_PER_SHARD = 12_000;
/** A record takes about 1 kB as an object: all of them would take more than twice this. */
const HEAP_MB = 56;

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-merge-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a merge succeeds in a heap that cannot hold the records, which stay in a file of each shard', async () => {
  const sharded = { runId: 'night', shards: SHARDS, requestsPerShard: REQUESTS_PER_SHARD, chunksPerRequest: 8 };
  await writeShards(folder, sharded);
  const { code, stdout, stderr } = await start(['merge', 'night', '--runs-dir', folder, '--json'], {
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --max-semi-space-size=4` },
  }).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { requests } = JSON.parse(stdout) as ResultFile;
  expect(requests).toMatchObject({ ok: 119_760, error: 240 });
  const files = await readdir(join(folder, 'night', 'records'));
  expect(files.sort()).toEqual(Array.from({ length: SHARDS }, (_, shard) => `${shard}.parquet`).sort());
});
