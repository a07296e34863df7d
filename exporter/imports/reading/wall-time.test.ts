import { expect, test } from '@jest/globals';
import { isTimeZone, wallInstant, wallTime } from './wall-time.ts';

// Reference: Python's datetime(…, tzinfo=ZoneInfo(zone), fold=0).astimezone(timezone.utc).
test.each([
  ['2026-11-21T16:46:50.831467', 'Europe/Berlin', '2026-11-21T15:46:50.831Z'],
  ['2026-07-01T12:00:00', 'America/New_York', '2026-07-01T16:00:00.000Z'],
  ['20261121-164650', 'UTC', '2026-11-21T16:46:50.000Z'],
  ['2026-11-21 16:46:50', 'Asia/Kolkata', '2026-11-21T11:16:50.000Z'],
  // The hour that occurs twice: the first of the two.
  ['2026-10-25T02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
  ['2026-11-21T16:46:50', null, null],
  ['2026-11-21T16:46:50+02:00', null, '2026-11-21T14:46:50.000Z'],
  ['2026-11-21T16:46:50Z', 'Asia/Kolkata', '2026-11-21T16:46:50.000Z'],
  ['yesterday', 'UTC', null],
])('%s in %s is %s', (text, zone, expected) => {
  expect(wallTime(text, zone)).toBe(expected);
});

test('zones by their names', () => {
  expect(isTimeZone('Europe/Berlin')).toBe(true);
  expect(isTimeZone('Mars/Olympus')).toBe(false);
});

test.each([
  [1795300106759, '2026-11-21T22:28:26.759Z'],
  [0, null],
  [12_500, null],
  [NaN, null],
  [Infinity, null],
  [1e308, null],
])('%p ms since 1970, when that can be the time of a benchmark', (ms, instant) => {
  expect(wallInstant(ms)).toBe(instant);
});
