import { expect, test } from '@jest/globals';
import { resultFile, runFile } from './fixtures/run.ts';
import { readResults } from './run-parts.ts';
import type { RunReader } from './run-reader.ts';

test('what is kept of a run holds no more memory than its text', async () => {
  const source: Pick<RunReader, 'readRun' | 'readResult'> = {
    readRun: () => Promise.resolve(runFile({})),
    readResult: () => Promise.resolve(resultFile({})),
  };
  const { families } = await readResults(source as RunReader, 'r', 'all');
  const bytes = families.reduce((sum, { lines }) => sum + lines.length, 0);
  const held = new Set(families.map(({ lines }) => lines.buffer));
  expect(bytes).toBeGreaterThan(0);
  expect([...held].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(bytes);
});
