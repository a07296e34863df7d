import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResultFile } from '../core/run/result.ts';
import { writeAiperfFile } from '../benchmarks/aiperf-file.ts';
import { start } from './llmbench.ts';

const FILE_BYTES = 108_000_000;
/** A third of the file: it does not fit as a whole. Half of it is garbage that has not been collected yet. */
const HEAP_MIB = 36;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-large-'));
  await mkdir(join(folder, 'artifacts'));
});

afterAll(() => rm(folder, { recursive: true }));

test('a file that is three times as large as the memory of the process is imported whole', async () => {
  const requests = await writeAiperfFile(join(folder, 'artifacts', 'profile_export.jsonl'), FILE_BYTES);
  const runs = join(folder, 'runs');
  const { code, stderr } = await start(
    ['import', join(folder, 'artifacts'), '--runs-dir', runs, '--scenario', 'large'],
    {
      env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
    },
  ).ended;
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('heap')]);
  const [runId = ''] = (await readdir(runs)).filter((name) => !name.startsWith('.'));
  const result = JSON.parse(await readFile(join(runs, runId, 'result.json'), 'utf8')) as ResultFile;
  expect(result.requests.ok).toBe(requests);
});
