import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { RequestRecord } from '../../../core/run/record.ts';
import { requestRecord, runFile } from '../fixtures/run.ts';
import { ProgressReader } from './run-progress.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-progress-'));
});
afterEach(() => rm(folder, { recursive: true }));

const line = (phase: 'warmup' | 'measure', index: number, change: Partial<RequestRecord> = {}): string =>
  `${JSON.stringify(requestRecord({ index, phase, chunk_offsets_ns: [1, 2], ...change }))}\n`;

const run = runFile({
  phases: [
    { phase: 'warmup', start: '2026-11-03T10:15:00.000Z', end: '2026-11-03T10:15:01.000Z' },
    { phase: 'measure', start: '2026-11-03T10:15:01.000Z', end: null },
  ],
});
const NOW = new Date('2026-11-03T10:15:04.500Z');

test('counts the measured requests of all shards, and new ones at the next read, also after a partial write', async () => {
  const reader = new ProgressReader();
  await mkdir(join(folder, 'records'));
  const file = join(folder, 'records', '0.jsonl');
  const cut = line('measure', 2);
  await writeFile(file, line('warmup', 0) + line('measure', 1) + cut.slice(0, 20));
  await writeFile(join(folder, 'records', '1.jsonl'), line('measure', 0));
  expect(await reader.read(run, folder, NOW)).toEqual({
    phase: 'measure',
    requests_done: 2,
    requests_failed: 0,
    output_tokens: 10,
    requests_planned: 10,
    elapsed_seconds: 3.5,
    planned_seconds: null,
  });
  await appendFile(file, cut.slice(20) + line('measure', 3));
  expect((await reader.read(run, folder, NOW)).requests_done).toBe(4);
  expect((await reader.read(run, folder, NOW)).requests_done).toBe(4);
});

test('failed requests are counted beside the others, and only ok ones have output', async () => {
  await mkdir(join(folder, 'records'));
  await writeFile(
    join(folder, 'records', '0.jsonl'),
    line('measure', 0, { output_tokens: 7 }) +
      line('measure', 1, { outcome: 'error', reason: 'reset', output_tokens: 3 }) +
      line('measure', 2, { outcome: 'timeout', reason: 'request_timeout', output_tokens: null }) +
      line('measure', 3, { outcome: 'cancelled', reason: 'cancelled', output_tokens: 2 }) +
      line('warmup', 4, { outcome: 'error', reason: 'reset' }),
  );
  const { requests_done, requests_failed, output_tokens } = await new ProgressReader().read(run, folder, NOW);
  expect({ requests_done, requests_failed, output_tokens }).toEqual({
    requests_done: 4,
    requests_failed: 2,
    output_tokens: 7,
  });
});

test('before the first phase, and without records, nothing is done', async () => {
  const progress = await new ProgressReader().read(runFile(), folder, NOW);
  expect(progress).toMatchObject({ phase: null, requests_done: 0, elapsed_seconds: null });
});
