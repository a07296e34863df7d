import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { percentile } from '../stats/percentiles.ts';
import { GapsInOrder, ManyGaps } from './chunk-reading.ts';

const QUANTILES = [0, 0.01, 0.5, 0.99, 1];
/** Gaps of some requests, in nanoseconds; a few last longer than 32 bits can say. */
const gap = fc
  .oneof({ weight: 6, arbitrary: fc.nat(30_000_000) }, { weight: 1, arbitrary: fc.nat(2 ** 31 - 1) })
  .map((ns) => (ns % 7 === 0 ? ns * 16 : ns));
const requests = fc.array(fc.array(gap, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 30 });

const offsets = (gaps: readonly number[]): number[] => {
  let at = 5;
  return [at, ...gaps.map((each) => (at += each))];
};

function filled<T extends GapsInOrder | ManyGaps>(collection: T, all: readonly (readonly number[])[]): T {
  // Each request was sent before the one above it.
  all.forEach((gaps, i) => collection.add(-i, offsets(gaps)));
  return collection;
}

describe('many gaps', () => {
  test('have the percentiles of the sorted gaps, to the nanosecond', () => {
    fc.assert(
      fc.property(requests, (all) => {
        const gaps = all.flat();
        const found = filled(new ManyGaps(gaps.length), all);
        expect(found.complete).toBe(true);
        const sorted = gaps.toSorted((a, b) => a - b);
        const expected = QUANTILES.map((q) => percentile(sorted, q) * 1e-9);
        expect(found.percentiles(QUANTILES)).toEqual(expected.map((value) => expect.closeTo(value, 10)));
      }),
      { numRuns: 300 },
    );
  });

  test('know how many are longer, before and after their order is lost', () => {
    fc.assert(
      fc.property(requests, fc.double({ min: 0, max: 40, noNaN: true }), (all, seconds) => {
        const gaps = all.flat();
        const found = filled(new ManyGaps(gaps.length), all);
        const expected = gaps.filter((each) => each > seconds / 1e-9).length;
        expect(found.longerThan(seconds)).toBe(expected);
        found.percentiles(QUANTILES);
        expect(found.longerThan(seconds)).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });

  test('more or fewer than were expected are not complete', () => {
    expect(filled(new ManyGaps(3), [[1, 2]]).complete).toBe(false);
    expect(filled(new ManyGaps(1), [[1, 2]]).complete).toBe(false);
  });
});

test('gaps in order come request by request in the order of sending', () => {
  const found = filled(new GapsInOrder(4), [[1e9, 2e9], [3e9], [4e9]]);
  expect([...found.inStartOrder()]).toEqual([4, 3, 1, 2].map((s) => expect.closeTo(s, 9)));
  expect(found.longerThan(2.5)).toBe(2);
  expect(found.complete).toBe(true);
});
