import { expect, test } from '@jest/globals';
import { monotonicNow_ns, runEpoch, ServerClock } from './monotonic-clock.ts';

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

/** Responses of a server whose clock is `ahead_ms` ahead: 10 ms each way, every 140 ms. */
function observed(ahead_ms: number, count: number): ServerClock {
  const clock = new ServerClock();
  for (let i = 0; i < count; i++) {
    const sent = 1_700_000_000_333 + i * 140;
    const date = Math.floor((sent + 10 + ahead_ms) / 1000) * 1000;
    clock.observe(sent, sent + 20, date);
  }
  return clock;
}

test('clocks that agree within what whole seconds tell are not corrected', () => {
  expect(new ServerClock().correction_ms).toBe(0);
  expect(observed(0, 1).correction_ms).toBe(0);
  expect(observed(30, 8).correction_ms).toBe(0);
  expect(observed(-30, 8).correction_ms).toBe(0);
});

test.each([5000, -5000, 1300, -720])(
  'a clock that is %d ms off is corrected to within the spacing of the responses',
  (ahead_ms) => {
    const { correction_ms } = observed(ahead_ms, 8);
    expect(Math.abs(correction_ms - ahead_ms)).toBeLessThanOrEqual(160);
    // Never more than is certain.
    expect(Math.abs(correction_ms)).toBeLessThanOrEqual(Math.abs(ahead_ms) + 20);
  },
);

test('servers with different clocks behind one address give a correction between theirs', () => {
  const clock = observed(5000, 8);
  clock.observe(1_700_000_002_000, 1_700_000_002_020, 1_700_000_004_000);
  expect(clock.correction_ms).toBeGreaterThan(1900);
  expect(clock.correction_ms).toBeLessThan(5100);
});
