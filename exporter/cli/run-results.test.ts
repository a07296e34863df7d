import { expect, test } from '@jest/globals';
import type { ResultFile } from '../../core/run/result.ts';
import { RunNotStoredError } from '../errors/expected-error.ts';
import type { DepartingRun } from '../run/perform-run.ts';
import type { RunRequest } from '../run/run-request.ts';
import { shardDirectory } from '../store/shards/shard-folders.ts';
import { keptRun, mergeLine, shardMark } from './run-results.ts';
import { groupResult, type GroupRun } from './tables/group-table.ts';

const request = { group: { group_id: 'g', step: null, repeat: 0 }, runsDirectory: 'runs' } as unknown as RunRequest;
const result = (run_id: string): ResultFile => ({ run_id, measures: [] }) as unknown as ResultFile;
const performed: DepartingRun = {
  ...{ result: result('a'), failure: null, path: 'runs/a', notes: [] },
  departure: Promise.resolve([]),
};

test('a run that could not be stored is reported with the others, in one document', async () => {
  const runs: GroupRun[] = [];
  await keptRun(runs, request, () => Promise.resolve(performed));
  const full = new RunNotStoredError('runs/b', new Error('no space left'), result('b'));
  await expect(keptRun(runs, request, () => Promise.reject(full))).rejects.toBe(full);
  expect(groupResult(runs).runs.map(({ run_id }) => run_id)).toEqual(['a', 'b']);
});

test('a run that failed otherwise has nothing to report', async () => {
  const runs: GroupRun[] = [];
  const refused = new Error('refused');
  await expect(keptRun(runs, request, () => Promise.reject(refused))).rejects.toBe(refused);
  expect(runs).toEqual([]);
});

test('a shard says that it is one, and how the run becomes whole', () => {
  expect(shardMark({ part: 1, parts: 4 })).toContain('shard 1 of 4');
  expect(mergeLine('night-7', shardDirectory('/data/runs', 'night-7', '1'))).toBe(
    'when all shards are in /data/runs/night-7.shards, run: llmbench merge night-7 --runs-dir /data/runs',
  );
});
