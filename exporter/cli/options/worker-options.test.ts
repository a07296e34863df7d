import { describe, expect, test } from '@jest/globals';
import { readOptions } from './options.ts';
import { RUN_OPTIONS, runRequests } from './run-options.ts';
import { requestedRuns } from './requested-runs.ts';
import type { RunRequest } from '../../run/run-request.ts';

const LOAD = ['--url', 'localhost:8000', '--model', 'm', '--request-count', '10'];
const COMMON = ['--run-id', 'night-7', '--start-at', '2030-01-31T12:00:00+01:00'];

function request(...argv: string[]): RunRequest | undefined {
  return runRequests(readOptions(RUN_OPTIONS, [...LOAD, ...argv], {}))[0];
}

describe('--workers', () => {
  test('not given: decided by the load', () => {
    expect(request()).toMatchObject({ workers: null, shard: null });
  });

  test('given, also by the environment', () => {
    expect(request('--workers', '3')?.workers).toBe(3);
    expect(readOptions(RUN_OPTIONS, LOAD, { LLMBENCH_WORKERS: '5' }).workers).toBe(5);
    expect(() => request('--workers', '0')).toThrow('a whole number from 1 to 256');
  });
});

describe('--shard', () => {
  test('a part of a run, with a start and a place that all shards know', () => {
    expect(request('--shard', '1/4', ...COMMON)).toMatchObject({
      shard: { share: { part: 1, parts: 4 }, startAt_ms: Date.UTC(2030, 0, 31, 11) },
      runId: 'night-7',
      runsDirectory: 'runs/night-7.shards/1',
      serverMetrics: null,
    });
  });

  test('with an upload the shards agree on the start', () => {
    const argv = ['--shard', '1/4', '--run-id', 'night-7', '--upload', 's3://bench/team'];
    expect(request(...argv)?.shard).toEqual({ share: { part: 1, parts: 4 }, startAt_ms: null });
  });

  test('the texts are new, and the same in all shards', () => {
    const [one, other] = [request('--shard', '0/2', ...COMMON), request('--shard', '1/2', ...COMMON)];
    expect(one?.textVariant).toBeGreaterThan(0);
    expect(other?.textVariant).toBe(one?.textVariant);
    expect(one?.serverMetrics).not.toBeNull();
  });

  test.each([
    [['--shard', '4/4', ...COMMON], "--shard is '4/4' and must be I/N"],
    [['--shard', '1', ...COMMON], 'must be I/N'],
    [['--shard', '0/0', ...COMMON], 'must be I/N'],
    [['--shard', '0/2'], '--shard requires --run-id'],
    [['--shard', '0/2', '--run-id', 'a'], '--shard requires --upload, through which the shards agree on a start'],
    [['--start-at', '2030-01-31T12:00:00Z'], '--start-at requires --shard'],
    [['--shard', '0/2', '--run-id', 'a', '--start-at', '2030-01-31 12:00'], 'must be a time such as'],
    [['--shard', '0/2', '--run-id', 'a', '--start-at', '2030-13-31T12:00:00Z'], 'must be a time such as'],
  ])('%j is refused', (argv, complaint) => {
    expect(() => request(...argv)).toThrow(complaint);
  });

  test('goes with one run', async () => {
    const sweep = [...LOAD, '--shard', '0/2', ...COMMON, '--concurrency', '2,4'];
    await expect(requestedRuns(sweep, {})).rejects.toThrow('--shard supports a single run');
  });
});
