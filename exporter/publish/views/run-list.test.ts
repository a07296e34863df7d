import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { deleteRun } from '../../store/changes/delete-run.ts';
import { editRun } from '../../store/changes/edit-run.ts';
import { EXAMPLE_END, examplePlan, exampleRecord } from '../../store/fixtures/example-run.ts';
import { openStore } from '../../store/run-store.ts';
import type { RunStore } from '../../store/run-store.ts';
import { RunList } from './run-list.ts';

let directory: string;
let store: RunStore;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-list-'));
  ({ store } = await openStore(directory));
});
afterEach(() => rm(directory, { recursive: true }));

async function write(run_id: string, start: string | null): Promise<void> {
  const writer = await store.begin(examplePlan({ run_id, start }));
  writer.requestEnded(exampleRecord(1));
  await writer.finish(EXAMPLE_END);
}

test('newest first, those without a time last, damaged ones named', async () => {
  await write('a', null);
  await write('b', '2026-03-04T05:00:00.000Z');
  await write('c', '2026-03-04T06:00:00.000Z');
  await mkdir(store.pathOf('broken'));
  await writeFile(join(store.pathOf('broken'), 'run.json'), '{');
  const listed = await new RunList(store).list();
  expect(listed.map(({ run_id }) => run_id)).toEqual(['c', 'b', 'broken', 'a']);
  expect(listed[2]).toMatchObject({ summary: null, damage: expect.stringContaining('it is not JSON') });
});

test('a copy under another name is damaged, the run itself is not', async () => {
  await write('a', '2026-03-04T05:00:00.000Z');
  await cp(store.pathOf('a'), store.pathOf('copy'), { recursive: true });
  const listed = await new RunList(store).list();
  expect(listed.map(({ run_id, damage }) => [run_id, damage === null])).toEqual([
    ['a', true],
    ['copy', false],
  ]);
});

test('without a change the same list; a run that is new, changed or deleted replaces only its own object', async () => {
  await write('a', '2026-03-04T05:00:00.000Z');
  await write('b', '2026-03-04T06:00:00.000Z');
  const list = new RunList(store);
  const [first, together] = await Promise.all([list.list(), list.list()]);
  expect(together).toBe(first);
  expect(await list.list()).toBe(first);

  await write('c', '2026-03-04T04:00:00.000Z');
  const grown = await list.list();
  expect(grown.map(({ run_id }) => run_id)).toEqual(['b', 'a', 'c']);
  expect([grown[0] === first[0], grown[1] === first[1]]).toEqual([true, true]);

  await editRun(store, 'a', (run) => ({ ...run, tags: ['kept'] }));
  const edited = await list.list();
  expect([edited[0] === first[0], edited[1]?.summary?.tags]).toEqual([true, ['kept']]);

  await deleteRun(store, 'b');
  expect((await list.list()).map(({ run_id }) => run_id)).toEqual(['a', 'c']);
});

test('a missing directory has no runs', async () => {
  const { store: nowhere } = await openStore(join(directory, 'nowhere'));
  expect(await new RunList(nowhere).list()).toEqual([]);
});
