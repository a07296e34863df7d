import { mkdtemp, readFile, rm, writeFile, appendFile, mkdir, cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, afterEach, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { addRun } from '../../store/changes/add-run.ts';
import { deleteRun } from '../../store/changes/delete-run.ts';
import { editRun } from '../../store/changes/edit-run.ts';
import { addedResult, addedRun, throughput } from '../../store/fixtures/added-run.ts';
import { EXAMPLE_END, examplePlan, exampleRecord } from '../../store/fixtures/example-run.ts';
import { resultFilePath } from '../../store/run-paths.ts';
import { openStore, type RunStore } from '../../store/run-store.ts';
import { requestRecord, runFile } from '../fixtures/run.ts';
import { RunList, RunLibrary, ProgressReader, type RunOverview, SharedLook } from './run-library.ts';

describe('run library', () => {
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
});

describe('run progress', () => {
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
});

describe('run list', () => {
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
});

/** Looks that end when the test lets them, and what they find. */
function looks(): { look: () => Promise<string>; end: (found: string) => void; readonly begun: number } {
  let begun = 0;
  let end = (_found: string): void => {};
  const look = (): Promise<string> => {
    begun += 1;
    return new Promise((resolve) => (end = resolve));
  };
  return {
    look,
    end: (found) => end(found),
    get begun() {
      return begun;
    },
  };
}

test('callers who come together share one look, and wait for it', async () => {
  const source = looks();
  const shared = new SharedLook(source.look, () => false);
  const asked = [shared.ask(), shared.ask()];
  source.end('a');
  expect(await Promise.all(asked)).toEqual(['a', 'a']);
  const again = shared.ask();
  source.end('b');
  expect([await again, source.begun]).toEqual(['b', 2]);
});

test('while runs arrive, a caller receives what the look before found, and the look goes on', async () => {
  const source = looks();
  let isFilling = true;
  const shared = new SharedLook(source.look, () => isFilling);
  const first = shared.ask();
  source.end('nothing yet');
  await first;
  expect([await shared.ask(), source.begun]).toEqual(['nothing yet', 2]);
  isFilling = false;
  const whole = shared.ask();
  source.end('all');
  expect([await whole, source.begun]).toEqual(['all', 2]);
});

test('a look that fails is reported, and the next caller looks again', async () => {
  let fails = true;
  const shared = new SharedLook(
    () => (fails ? Promise.reject(new Error('gone')) : Promise.resolve('back')),
    () => true,
  );
  await expect(shared.ask()).rejects.toThrow('gone');
  fails = false;
  expect(await shared.ask()).toBe('back');
});
