import { expect, test, describe } from '@jest/globals';
import fc from 'fast-check';
import { inFlightStatistics, curveStatistics, quotient, StepSum, FullLoad } from './in-flight.ts';

test('each number weighs as much as it lasted', () => {
  // 0 in [0, 10), 1 in [10, 20), 2 in [20, 40), 1 in [40, 60), 0 in [60, 100].
  const found = inFlightStatistics(Float64Array.of(20, 10), Float64Array.of(40, 60), 0, 100);
  expect(found).toMatchObject({ min: 0, max: 2 });
  expect(found?.mean).toBeCloseTo(0.7, 12);
  // 0.5 × 0.49 + 0.3 × 0.09 + 0.2 × 1.69 = 0.61.
  expect(found?.std).toBeCloseTo(Math.sqrt(0.61), 12);
  expect([0.4, 0.6, 0.79, 0.81].map((q) => found?.quantile(q))).toEqual([0, 1, 1, 2]);
});

test('what lies outside the window does not count', () => {
  const found = inFlightStatistics(Float64Array.of(0, 50), Float64Array.of(30, 200), 20, 70);
  // 1 in [20, 30), 0 in [30, 50), 1 in [50, 70].
  expect(found?.mean).toBeCloseTo(0.6, 12);
  expect(found).toMatchObject({ min: 0, max: 1 });
});

test('a request that is sent when another ends takes its place', () => {
  expect(inFlightStatistics(Float64Array.of(0, 10), Float64Array.of(10, 20), 0, 20)).toMatchObject({ min: 1, max: 1 });
});

test('a window that lasts no time has none', () => {
  expect(inFlightStatistics(Float64Array.of(1), Float64Array.of(2), 5, 5)).toBeNull();
});

const sumOf = (...intervals: readonly (readonly [from: number, to: number, amount: number])[]) => {
  const sum = new StepSum();
  for (const [from, to, amount] of intervals) sum.add(from, to, amount);
  return sum.curve();
};

// 2 from 0 to 10, 5 from 10 to 20 (one ends as another begins), 3 from 20 to 30.
const CURVE = sumOf([0, 10, 2], [10, 20, 2], [10, 30, 3]);

describe('a number that changes in steps', () => {
  test('what ends goes before what begins', () => {
    expect([...CURVE.at_ns]).toEqual([0, 10, 10, 10, 20, 30]);
    expect([...CURVE.values]).toEqual([2, 0, 2, 5, 3, 0]);
  });

  test('statistics are weighted by time', () => {
    const statistics = curveStatistics(CURVE, 0, 40);
    // (2 + 5 + 3 + 0) / 4; the squares of the deviations 0.5, 2.5, 0.5, 2.5 are 13 together.
    expect(statistics).toMatchObject({ mean: 2.5, min: 0, max: 5, std: Math.sqrt(13 / 4) });
    expect([0.25, 0.5, 0.75, 0.9].map((q) => statistics?.quantile(q))).toEqual([0, 2, 3, 5]);
  });

  test('within a window, also one that begins in the middle of a step', () => {
    expect(curveStatistics(CURVE, 15, 25)).toMatchObject({ mean: 4, min: 3, max: 5 });
    expect(curveStatistics(CURVE, 5, 5)).toBeNull();
  });

  test('only of the time in which another is above 0', () => {
    const active = sumOf([5, 10, 1], [20, 25, 1]);
    expect(curveStatistics(CURVE, 0, 40, active)).toMatchObject({ mean: 2.5, min: 2, max: 3 });
    expect(curveStatistics(CURVE, 0, 40, sumOf())).toBeNull();
  });

  test('one over another is 0 where that is 0', () => {
    const half = quotient(CURVE, sumOf([0, 20, 2]));
    expect(curveStatistics(half, 0, 40)).toMatchObject({ mean: (1 + 2.5) / 4, max: 2.5, min: 0 });
  });

  test('what cancels out leaves nothing behind', () => {
    const sum = new StepSum();
    for (const amount of [0.1, 0.2, 1e6]) sum.add(0, 10, amount);
    expect(sum.curve().values.at(-1)).toBe(0);
  });
});

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
