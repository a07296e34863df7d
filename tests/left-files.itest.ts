import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addRun } from '../exporter/store/changes/add-run.ts';
import { addedRun } from '../exporter/store/fixtures/added-run.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { disturbed, killedAtChange } from '../scripts/chaos/disturbances.ts';
import { llmbench } from './llmbench.ts';

/** Many processes, one after the other, on a machine that may be busy. */
const TIME_LIMIT_MS = 600_000;

/** Only a run with times has samples. */
const WITH_TIMES = fileURLToPath(new URL('../exporter/imports/inference-perf/fixtures/concurrent', import.meta.url));

let directory: string;
let prepared: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-left-'));
  prepared = join(directory, 'prepared');
  await addRun((await openStore(prepared)).store, addedRun('r1'));
  expect(await llmbench('import', WITH_TIMES, '--runs-dir', prepared)).toMatchObject({ code: 0 });
});

afterAll(() => rm(directory, { recursive: true }));

const temporaries = async (runs: string): Promise<readonly string[]> =>
  (await readdir(runs, { recursive: true })).filter((path) => path.endsWith('.tmp'));

test.each([
  ['the report and an export of a run', ['report', 'r1', '--export', 'aiperf']],
  ['a tag', ['runs', 'tag', 'r1', '+late']],
])(
  'killed at every change while it writes %s, a command leaves nothing that the next one does not remove',
  async (_, argv) => {
    let kills = 0;
    let seen = 0;
    for (let change = 1; ; change++) {
      const runs = join(directory, `${argv[0]}-${change}`);
      await cp(prepared, runs, { recursive: true });
      const { killed, code, stderr } = await killedAtChange([...argv, '--runs-dir', runs], change);
      seen += (await temporaries(runs)).length;
      await openStore(runs);
      expect([change, await temporaries(runs)]).toEqual([change, []]);
      if (!killed) {
        expect([code, stderr]).toEqual([0, '']);
        break;
      }
      kills += 1;
    }
    expect(kills).toBeGreaterThan(3);
    // There was something to remove.
    expect(seen).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS,
);

test.each([
  ['rows', (to: string) => ['runs', 'export', 'r1', '--format', 'csv', '--output', join(to, 'rows.csv')]],
  ['files of AIPerf', (to: string) => ['runs', 'export', 'r1', '--format', 'aiperf', '--output', to]],
  ['samples', (to: string) => ['backfill', '--all', '--output', join(to, 'pages/')]],
])(
  'killed at every change while it writes %s outside of the runs, the next one to this folder removes what is left',
  async (what, argvTo) => {
    let seen = 0;
    for (let change = 1; ; change++) {
      const to = join(directory, `out-${what}-${change}`);
      await mkdir(to);
      const argv = [...argvTo(to), '--runs-dir', prepared];
      const { killed, code } = await killedAtChange(argv, change);
      seen += (await temporaries(to)).length;
      expect((await disturbed(argv)).code).toBe(0);
      expect([change, await temporaries(to)]).toEqual([change, []]);
      if (!killed) {
        expect(code).toBe(0);
        break;
      }
    }
    // There was something to remove.
    expect(seen).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS,
);

test('a temporary file of a running process stays', async () => {
  const { store } = await openStore(prepared);
  const path = await store.temporaryFor(join(prepared, 'r1', 'report.html'));
  await cp(join(prepared, 'r1', 'run.json'), path);
  await openStore(prepared);
  expect(await temporaries(prepared)).toHaveLength(1);
  await rm(path);
});
