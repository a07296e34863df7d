import { expect, test } from '@jest/globals';
import { StartTimes } from './sighting.ts';

/** Start times of one process, read one second apart. */
function changes(...times: number[]): string[] {
  const starts = new StartTimes();
  return times.map((seconds, i) => {
    const { severalServers, renewed, same } = starts.see([{ key: 'process', earliest: seconds, latest: seconds }], i);
    return severalServers ? 'several servers' : renewed.size > 0 ? 'renewed' : same.size > 0 ? 'same' : 'unknown';
  });
}

test('a later start is a restart, an earlier one another server', () => {
  expect(changes(100, 100, 250, 250)).toEqual(['unknown', 'same', 'renewed', 'same']);
  expect(changes(100, 250, 100)).toEqual(['unknown', 'renewed', 'several servers']);
  expect(changes(250, 100)).toEqual(['unknown', 'several servers']);
});

test('a later start that lies within the time the first process was seen alive is another server', () => {
  expect(changes(100, 100, 100, 100, 100, 102)).toEqual(['unknown', 'same', 'same', 'same', 'same', 'several servers']);
  expect(changes(100, 100, 100, 100, 100, 104).at(-1)).toBe('renewed');
});

test('a start time that is computed anew and jitters by a second is the same', () => {
  expect(changes(100, 101, 100.5, 99.5)).toEqual(['unknown', 'same', 'same', 'same']);
});

test('a value that is not finite is ignored', () => {
  expect(changes(NaN, 100, NaN, 100)).toEqual(['unknown', 'unknown', 'unknown', 'same']);
});

test('an uptime gives an interval: a slow answer is no restart', () => {
  const starts = new StartTimes();
  expect(starts.see([{ key: 'up', earliest: 50, latest: 50.1 }], 100).renewed.size).toBe(0);
  expect(starts.see([{ key: 'up', earliest: 48, latest: 58 }], 110).renewed.size).toBe(0);
  expect(starts.see([{ key: 'up', earliest: 115, latest: 115.2 }], 120).renewed.size).toBe(1);
});
