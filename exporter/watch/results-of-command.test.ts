import { describe, expect, test } from '@jest/globals';
import { ImportNotes } from '../imports/import-notes.ts';
import { reportedRun, type ImportedRun } from '../imports/importer.ts';
import { ResultsOfCommand, likelyPlaces } from './results-of-command.ts';

const START = '2026-11-27T10:00:00.000Z';
const after = (seconds: number): number => Date.parse(START) + seconds * 1000;

const resultsOf = (failure: string | null = null): ResultsOfCommand =>
  new ResultsOfCommand({
    plan: {
      run_id: 'watched-1',
      start: START,
      target: { origin: 'http://gpu-1:8000', system: 'vllm', system_version: null },
      tool: { name: 'bench', version: null },
    },
    ...{ start_ms: after(1), end_ms: after(61), window: { start_ns: 1e9, end_ns: 61e9 } },
    end: { exitCode: failure === null ? 0 : 1, failure },
    collected: null,
  });

const run = (part: string | null, start: string | null): ImportedRun => ({
  ...reportedRun({ tool: 'vllm', format: 'f', notes: new ImportNotes() }),
  ...{ part, start },
});

describe('of a file that is older than the command', () => {
  test('the runs of its time are its own', () => {
    const lines = [run('1', '2026-11-26T10:00:00.000Z'), run('2', '2026-11-27T10:00:30.000Z'), run('3', null)];
    expect([...resultsOf().newest(lines)]).toEqual(['2']);
  });

  test('without times the last one is, because results are appended', () => {
    expect([...resultsOf().newest([run('1', null), run('2', null)])]).toEqual(['2']);
  });

  test('none is, if all are of another time', () => {
    expect([...resultsOf().newest([run('1', '2026-11-26T10:00:00.000Z')])]).toEqual([]);
  });
});

test('the first result that is imported is the run of the command, further ones have names of their own', () => {
  const results = resultsOf();
  const imported = { name: 'a', tool: 'vllm', notes: [], disagreements: 0 } as const;
  expect(results.assign(run(null, null)).runId).toBe('watched-1');
  results.done({ status: 'refused', name: 'a', tool: 'vllm', reason: 'torn', missing: false });
  expect(results.assign(run(null, null)).runId).toBe('watched-1');
  results.done({ ...imported, status: 'imported', run_id: 'watched-1' });
  expect(results.assign(run(null, null)).runId).toBeNull();
});

test('a result has the start and the target of the command where it reports none, and its failure', () => {
  const { imported } = resultsOf('bench ended with exit code 1').assign(run(null, null));
  expect(imported).toMatchObject({
    ...{ start: START, status: 'aborted', failure: 'bench ended with exit code 1' },
    target: { origin: 'http://gpu-1:8000', system: 'vllm' },
  });
});

test('a start outside of the time of the command is not used, and a note has it', () => {
  const { imported } = resultsOf().assign(run(null, '2026-11-20T10:00:00.000Z'));
  expect(imported.start).toBe(START);
  expect(imported.notes.lines).toEqual([
    'the file reports the start 2026-11-20T10:00:00.000Z, when the command was not running',
  ]);
});

test('results are looked for in the working directory and where the arguments point, not around it', () => {
  const command = ['/usr/bin/bench', 'profile', '--out=/data/x', '--dir', 'sub', '-o=..', '--top', '/'];
  expect(likelyPlaces(command, '/srv/bench')).toEqual([
    '/srv/bench',
    '/srv/bench/profile',
    '/data/x',
    '/srv/bench/sub',
  ]);
});
