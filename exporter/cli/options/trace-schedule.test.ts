import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { followsSchedule, type ScheduleOptions } from './trace-schedule.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-traces-'));
  await writeFile(
    join(folder, 'timed'),
    '\n{"timestamp": 0, "input_length": 5}\n{"timestamp": 9, "input_length": 5}\n',
  );
  await writeFile(join(folder, 'untimed'), '{"input_length": 5}\n');
  await writeFile(join(folder, 'broken'), '{"timestamp": 1,\n');
});
afterAll(() => rm(folder, { recursive: true }));

const options = (file: string | null, more: Partial<ScheduleOptions> = {}): ScheduleOptions => ({
  'fixed-schedule': false,
  'no-fixed-schedule': false,
  'request-rate': null,
  stages: null,
  'input-file': file === null ? null : join(folder, file),
  'custom-dataset-type': 'mooncake_trace',
  ...more,
});

describe('a trace with timestamps is followed, as in AIPerf', () => {
  test.each([
    ['timed', {}, true],
    ['untimed', {}, false],
    ['broken', {}, false],
    ['no such file', {}, false],
    [null, {}, false],
    ['timed', { 'custom-dataset-type': 'single_turn' }, false],
    ['timed', { 'no-fixed-schedule': true }, false],
    ['timed', { 'no-fixed-schedule': true, 'request-rate': [5] }, false],
    ['untimed', { 'request-rate': [5] }, false],
    ['untimed', { 'fixed-schedule': true }, true],
  ] as const)('%s %j: %s', (file, more, followed) => {
    expect(followsSchedule(options(file, more))).toBe(followed);
  });

  test('a rate or stages beside it are refused', () => {
    expect(() => followsSchedule(options('timed', { 'request-rate': [5] }))).toThrow(
      'has timestamps: remove --request-rate, or ignore the timestamps with --no-fixed-schedule',
    );
    expect(() => followsSchedule(options('timed', { stages: [] }))).toThrow('has timestamps: remove --stages');
  });
});
