import { expect, test } from '@jest/globals';
import { StartTimes } from './start-times.ts';

function verdicts(...times: number[]): string[] {
  const start = new StartTimes();
  return times.map((seconds) => start.see([['process', seconds]]));
}

test('a later start is a restart, an earlier one another server', () => {
  expect(verdicts(100, 100, 250, 250)).toEqual(['same', 'same', 'restarted', 'same']);
  expect(verdicts(100, 250, 100)).toEqual(['same', 'restarted', 'several_servers']);
  expect(verdicts(250, 100)).toEqual(['same', 'several_servers']);
});

test('a start time that is computed anew and jitters by a second is the same', () => {
  expect(verdicts(100, 101, 100, 99.5)).toEqual(['same', 'same', 'same', 'same']);
});

test('what is no time tells nothing', () => {
  expect(verdicts(NaN, 100, NaN, 100)).toEqual(['same', 'same', 'same', 'same']);
});
