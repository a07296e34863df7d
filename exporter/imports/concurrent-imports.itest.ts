import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { captureBytes } from '../../fixtures/captures.ts';
import { start } from '../../tests/llmbench.ts';

let folder = '';
let file = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-concurrent-imports-'));
  file = join(folder, 'profile_export.jsonl');
  await writeFile(file, captureBytes('dynamo/a-steady-c8/aiperf/profile_export.jsonl.gz'));
});
afterEach(() => rm(folder, { recursive: true }));

const importing = (runs: string) => start(['import', file, '--runs-dir', runs, '--time-zone', 'UTC', '--json']);

interface Imported {
  readonly results: readonly { readonly status: string; readonly run_id?: string }[];
}

const finished = async (runs: string): Promise<readonly string[]> =>
  (await readdir(runs)).filter((name) => !name.startsWith('.') && name !== 'scenarios');

test('four imports of one file at once: one imports it, to the others it is known, and nothing is left over', async () => {
  for (let round = 0; round < 3; round++) {
    const runs = join(folder, `runs-${round}`);
    const ended = await Promise.all(Array.from({ length: 4 }, () => importing(runs).ended));
    const results = ended.flatMap(({ stdout }) => (JSON.parse(stdout) as Imported).results);
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(results.map(({ status }) => status).sort()).toEqual(['imported', 'known', 'known', 'known']);
    expect(await finished(runs)).toEqual([results[0]?.run_id]);
    expect(await readdir(join(runs, '.unfinished'))).toEqual([]);
  }
});

test('an import that is killed leaves nothing that the next command does not finish or remove', async () => {
  const runs = join(folder, 'runs');
  for (const delay_ms of [100, 200, 300, 400, 500, 700]) {
    const { child, ended } = importing(runs);
    const kill = setTimeout(() => child.kill('SIGKILL'), delay_ms);
    await ended;
    clearTimeout(kill);
    expect((await start(['runs', 'list', '--runs-dir', runs, '--json']).ended).code).toBe(0);
    expect(await readdir(join(runs, '.unfinished')).catch(() => [])).toEqual([]);
  }
  const { code, stdout } = await importing(runs).ended;
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as Imported).results).toHaveLength(1);
  expect(await finished(runs)).toHaveLength(1);
});
