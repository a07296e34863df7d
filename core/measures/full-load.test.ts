import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FullLoad } from './full-load.ts';

const MS = 1_000_000;

function fullLoad(requests: readonly (readonly [sent_ms: number, end_ms: number])[], planned: number): FullLoad {
  const sent = Float64Array.from(requests, ([sent_ms]) => sent_ms * MS);
  const end = Float64Array.from(requests, ([, end_ms]) => end_ms * MS);
  return new FullLoad(sent.sort(), end.sort(), planned);
}

describe('FullLoad', () => {
  test('from when the last slot is filled to when the first stays empty', () => {
    // In flight: 1 in [0, 100), 2 in [100, 500), 1 in [500, 600).
    const load = fullLoad(
      [
        [0, 500],
        [100, 600],
      ],
      2,
    );
    expect(load.seconds).toBeCloseTo(0.4, 12);
    expect([99, 100, 300, 500, 501].map((ms) => load.holds(ms * MS))).toEqual([false, true, true, true, false]);
  });

  test('a slot that is refilled within 10 ms does not end it', () => {
    expect(
      fullLoad(
        [
          [0, 400],
          [0, 1000],
          [405, 1000],
        ],
        2,
      ).seconds,
    ).toBeCloseTo(1, 12);
  });

  test('a slot that stays empty for 10 ms does', () => {
    const load = fullLoad(
      [
        [0, 400],
        [0, 1000],
        [410, 1000],
      ],
      2,
    );
    expect(load.seconds).toBeCloseTo(0.99, 12);
    expect([400, 405, 410].map((ms) => load.holds(ms * MS))).toEqual([true, false, true]);
  });

  test('never full', () => {
    const load = fullLoad(
      [
        [0, 1000],
        [0, 1000],
      ],
      3,
    );
    expect(load.seconds).toBe(0);
    expect(load.holds(500 * MS)).toBe(false);
    expect(fullLoad([], 1).seconds).toBe(0);
  });

  test('sent at the moment of another end takes its place', () => {
    expect(
      fullLoad(
        [
          [0, 100],
          [100, 200],
          [200, 300],
        ],
        1,
      ).seconds,
    ).toBeCloseTo(0.3, 12);
  });

  test('one that is sent at the moment of the end of the only other does not make two', () => {
    const load = fullLoad(
      [
        [0, 100],
        [100, 200],
      ],
      2,
    );
    expect(load.seconds).toBe(0);
    expect(load.holds(100 * MS)).toBe(false);
  });

  test('is the time in which enough requests are in flight, counted millisecond by millisecond', () => {
    // All times are multiples of 20 ms, so that no dip is bridged.
    const request = fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 20 })).map(([sent, length]) => {
      return [sent * 20, (sent + length) * 20] as const;
    });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 12 }), fc.integer({ min: 1, max: 4 }), (requests, planned) => {
        let full_ms = 0;
        for (let ms = 0.5; ms < 1020; ms++) {
          const inFlight = requests.filter(([sent, end]) => sent < ms && ms < end).length;
          if (inFlight >= planned) full_ms += 1;
        }
        expect(fullLoad(requests, planned).seconds * 1000).toBeCloseTo(full_ms, 6);
      }),
    );
  });
});
