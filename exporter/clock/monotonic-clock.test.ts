import { expect, test } from '@jest/globals';
import { monotonicNow_ns, runEpoch } from './monotonic-clock.ts';

test('agrees with process.hrtime, which reads CLOCK_MONOTONIC', () => {
  let smallest = Infinity;
  for (let i = 0; i < 200; i++) {
    const before = Number(process.hrtime.bigint());
    const now = monotonicNow_ns();
    const after = Number(process.hrtime.bigint());
    smallest = Math.min(smallest, Math.max(before - now, now - after));
  }
  // The best of many readings lies between its neighbors, except for the error of one calibration.
  expect(smallest).toBeLessThan(50_000);
});

test('never goes backwards', () => {
  let last = 0;
  for (let i = 0; i < 1000; i++) {
    const now = monotonicNow_ns();
    expect(now).toBeGreaterThanOrEqual(last);
    last = now;
  }
});

test('an epoch is whole nanoseconds', () => {
  expect(Number.isInteger(runEpoch().monotonic_ns)).toBe(true);
});
