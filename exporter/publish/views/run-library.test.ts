import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ResultFile } from '../../../core/run/result.ts';
import { addRun } from '../../store/changes/add-run.ts';
import { deleteRun } from '../../store/changes/delete-run.ts';
import { editRun } from '../../store/changes/edit-run.ts';
import { addedResult, addedRun, throughput } from '../../store/fixtures/added-run.ts';
import { resultFilePath } from '../../store/run-paths.ts';
import { openStore, type RunStore } from '../../store/run-store.ts';
import { RunList } from './run-list.ts';
import { RunLibrary, type RunOverview } from './run-library.ts';

let directory: string;
let store: RunStore;
let problems: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-library-'));
  ({ store } = await openStore(directory));
  problems = [];
});
afterEach(() => rm(directory, { recursive: true }));

const library = (): RunLibrary => new RunLibrary(store, new RunList(store), (line) => void problems.push(line));
const names = ({ runs }: RunOverview): string[] => runs.map(({ run_id }) => run_id);
const throughputs = ({ runs }: RunOverview): (number | null | undefined)[] =>
  runs.map(({ numbers }) => numbers?.request_throughput);

async function add(runId: string, value: number): Promise<void> {
  const added = addedRun(runId, { source: null }, 0);
  await addRun(store, { ...added, result: addedResult(added.run, [throughput(value)]) });
}

async function changeResult(runId: string, value: number): Promise<void> {
  const path = resultFilePath(store.pathOf(runId));
  const result = JSON.parse(await readFile(path, 'utf8')) as ResultFile;
  await writeFile(path, JSON.stringify({ ...result, measures: [throughput(value)] }));
}

test('a result that is replaced while the process lists runs is read again', async () => {
  await add('a', 7);
  const living = library();
  expect(throughputs(await living.overview())).toEqual([7]);
  await changeResult('a', 8.5);
  expect(throughputs(await living.overview())).toEqual([8.5]);
});

test('a result that cannot be read is reported once, and its run listed without numbers', async () => {
  await add('a', 7);
  await writeFile(resultFilePath(store.pathOf('a')), '{');
  const living = library();
  expect(names(await living.overview())).toEqual(['a']);
  expect(throughputs(await living.overview())).toEqual([undefined]);
  expect(problems).toEqual([expect.stringContaining('run a is listed without numbers')]);
});

test('whatever happened between two processes, the later one lists what is in the files', async () => {
  const ids = fc.constantFrom('a', 'b', 'c', 'd');
  const change = fc.record({
    kind: fc.constantFrom('add', 'remove', 'tag', 'result', 'damage result', 'damage run'),
    runId: ids,
    value: fc.integer({ min: 1, max: 99 }),
  });
  const apply = async ({ kind, runId, value }: { kind: string; runId: string; value: number }): Promise<void> => {
    const exists = (await store.runIds()).includes(runId);
    if (kind === 'add' && !exists) return add(runId, value);
    if (!exists) return;
    const path = store.pathOf(runId);
    try {
      if (kind === 'remove') await deleteRun(store, runId);
      if (kind === 'tag') await editRun(store, runId, (run) => ({ ...run, tags: [`t${value}`] }));
      if (kind === 'result') await changeResult(runId, value);
    } catch {
      // A damaged run cannot be edited.
    }
    if (kind === 'damage result') await writeFile(resultFilePath(path), '{'.repeat(value));
    if (kind === 'damage run') await writeFile(join(path, 'run.json'), '{'.repeat(value));
  };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 4 }), async (rounds) => {
      for (const runId of await store.runIds()) await rm(store.pathOf(runId), { recursive: true });
      for (const changes of rounds) {
        for (const each of changes) await apply(each);
        const withIndex = await library().overview();
        await rm(join(directory, '.index.sqlite'), { force: true });
        expect(withIndex).toEqual(await library().overview());
      }
    }),
    { numRuns: 40 },
  );
});
