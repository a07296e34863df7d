import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

// In a separate process: the limit holds for all of it.
const PROGRAM = `
  const { boundHeapGrowth } = await import(process.argv[1]);
  const bound = boundHeapGrowth();
  const kept = [];
  for (let i = 0; i < 200_000; i++) kept[i % 1000] = { i };
  bound.stop();
  console.log(kept.length);
`;

test('can be set and taken back while a process runs', () => {
  const module = new URL('heap-growth.ts', import.meta.url).href;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM, module], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  });
  expect([stdout.trim(), stderr]).toEqual(['1000', '']);
});
