import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  classicHistogram,
  inOrder,
  parseBound,
  perBucket,
  total,
  sameBound,
  sameGrid,
  addHistograms,
  histogramDelta,
  rebucket,
} from './classic-histogram.ts';

describe('classicHistogram', () => {
  test('orders the buckets by value, not by text', () => {
    const h = classicHistogram(
      [
        ['+Inf', 9],
        ['10', 7],
        ['2', 3],
        ['1e-1', 1],
      ],
      12.5,
    );
    expect(h).toEqual({ bounds: [0.1, 2, 10, Infinity], counts: [1, 3, 7, 9], sum: 12.5 });
  });

  test('adds the counts of one bound written in two ways', () => {
    const h = classicHistogram([
      ['1', 2],
      ['1.0', 3],
      ['+Inf', 6],
    ]);
    expect(h).toEqual({ bounds: [1, Infinity], counts: [5, 6], sum: null });
  });

  test('leaves out a bucket whose le is no number', () => {
    const h = classicHistogram([
      ['NaN', 1],
      ['', 2],
      ['x', 3],
      ['1', 4],
      ['+Inf', 5],
    ]);
    expect(h).toEqual({ bounds: [1, Infinity], counts: [4, 5], sum: null });
  });

  test('of nothing is empty', () => {
    expect(classicHistogram([])).toEqual({ bounds: [], counts: [], sum: null });
  });
});

test('inOrder sorts and adds equal bounds, and returns an ordered histogram as it is', () => {
  const ordered = { bounds: [1, Infinity], counts: [5, 6], sum: 3 };
  expect(inOrder(ordered)).toBe(ordered);
  expect(inOrder({ bounds: [Infinity, 1, 1], counts: [6, 2, 3], sum: 3 })).toEqual(ordered);
});

test.each([
  ['+Inf', Infinity],
  ['Inf', Infinity],
  ['infinity', Infinity],
  ['-Inf', -Infinity],
  ['0.005', 0.005],
  ['1e+06', 1e6],
  ['5.', 5],
  ['.5', 0.5],
  ['-2.5E-3', -0.0025],
  ['NaN', null],
  ['', null],
  [' 1', null],
  ['0x10', null],
  ['1e999', null],
  ['1,5', null],
])('parseBound(%j) is %p', (text, expected) => {
  expect(parseBound(text)).toBe(expected);
});

describe('total', () => {
  test('is the count of the +Inf bucket', () => {
    expect(total({ bounds: [1, Infinity], counts: [4, 6], sum: null })).toBe(6);
  });

  test('is unknown without it', () => {
    expect(total({ bounds: [1, 2], counts: [4, 6], sum: null })).toBeNaN();
    expect(total({ bounds: [], counts: [], sum: null })).toBeNaN();
  });
});

test('perBucket takes the cumulative counts apart', () => {
  expect(perBucket({ bounds: [1, 2, Infinity], counts: [4, 4, 6.5], sum: null })).toEqual([4, 0, 2.5]);
});

test.each([
  [0.1 + 0.2, 0.3, true],
  [1, 1 + 1e-10, true],
  [1, 1 + 1e-8, false],
  [0, 0, true],
  [0, 1e-12, false],
  [-1, 1, false],
  [Infinity, Infinity, true],
  [Infinity, 1e300, false],
  [Infinity, -Infinity, false],
  [NaN, NaN, false],
])('sameBound(%p, %p) is %p', (a, b, expected) => {
  expect(sameBound(a, b)).toBe(expected);
});

test('sameGrid compares every edge', () => {
  expect(sameGrid([0.1, 0.1 + 0.2, Infinity], [0.1, 0.3, Infinity])).toBe(true);
  expect(sameGrid([0.1, 0.3, Infinity], [0.1, 0.4, Infinity])).toBe(false);
  expect(sameGrid([0.1, Infinity], [0.1, 0.3, Infinity])).toBe(false);
  expect(sameGrid([], [])).toBe(true);
});

describe('histogramDelta', () => {
  const start = { bounds: [1, 2, Infinity], counts: [1, 3, 4], sum: 6 };

  test('takes the start off the end', () => {
    const end = { bounds: [1, 2, Infinity], counts: [1, 5, 9], sum: 30 };
    expect(histogramDelta(start, end)).toEqual({
      histogram: { bounds: [1, 2, Infinity], counts: [0, 2, 5], sum: 24 },
      reset: false,
    });
  });

  test.each([
    ['the total falls', { ...start, counts: [0, 1, 1], sum: 1 }],
    ['one bucket falls while the total rises', { ...start, counts: [0, 5, 9], sum: 30 }],
  ])('sees a reset of the whole histogram when %s', (_name, end) => {
    expect(histogramDelta(start, end)).toEqual({ histogram: end, reset: true });
  });

  test('a sum that falls alone is a negative observation or rounding, no reset', () => {
    const end = { ...start, counts: [2, 4, 5], sum: 5 };
    expect(histogramDelta(start, end)).toEqual({ histogram: { ...start, counts: [1, 1, 1], sum: -1 }, reset: false });
  });

  test('has no sum when either is unknown', () => {
    const end = { bounds: [1, 2, Infinity], counts: [1, 5, 9], sum: null };
    expect(histogramDelta(start, end)?.histogram.sum).toBeNull();
    expect(histogramDelta(end, { ...end, sum: 30 })?.histogram.sum).toBeNull();
  });

  test('never mixes two grids', () => {
    expect(histogramDelta(start, { bounds: [1, 3, Infinity], counts: [1, 5, 9], sum: 30 })).toBeNull();
    expect(histogramDelta(start, { bounds: [1, Infinity], counts: [5, 9], sum: 30 })).toBeNull();
  });

  const histogram = fc.array(fc.nat(1000), { minLength: 4, maxLength: 4 }).map((perBucket) => {
    let sum = 0;
    return { bounds: [1, 2, 3, Infinity], counts: perBucket.map((count) => (sum += count)), sum: sum * 2 };
  });
  test('undoes an addition', () => {
    fc.assert(
      fc.property(histogram, histogram, (a, b) => {
        const both = addHistograms([a, b]);
        if (both === null) throw new Error('grids differ');
        expect(histogramDelta(a, both)).toEqual({ histogram: b, reset: false });
      }),
    );
  });
});

describe('addHistograms', () => {
  const a = { bounds: [1, Infinity], counts: [1, 2], sum: 3 };
  const b = { bounds: [1, Infinity], counts: [10, 20], sum: 30 };
  test('adds counts and sums and leaves the parts as they are', () => {
    expect(addHistograms([a, b])).toEqual({ bounds: [1, Infinity], counts: [11, 22], sum: 33 });
    expect(a.counts).toEqual([1, 2]);
  });

  test('has no sum when one is unknown', () => {
    expect(addHistograms([a, { ...b, sum: null }])?.sum).toBeNull();
    expect(addHistograms([{ ...b, sum: null }, a])?.sum).toBeNull();
  });

  test('refuses unlike grids, and nothing', () => {
    expect(addHistograms([a, { bounds: [2, Infinity], counts: [1, 2], sum: 3 }])).toBeNull();
    expect(addHistograms([])).toBeNull();
  });
});

describe('rebucket', () => {
  const fine = { bounds: [0.1, 0.2, 0.1 + 0.2, 1, Infinity], counts: [1, 2, 5, 6, 8], sum: 4 };

  test('keeps the counts of the bounds that remain', () => {
    expect(rebucket(fine, [0.2, 1, Infinity])).toEqual({ bounds: [0.2, 1, Infinity], counts: [2, 6, 8], sum: 4 });
  });

  test('knows a bound with rounding noise', () => {
    expect(rebucket(fine, [0.3, Infinity])).toEqual({ bounds: [0.3, Infinity], counts: [5, 8], sum: 4 });
  });

  test('puts the new bounds in order, once each', () => {
    expect(rebucket(fine, [Infinity, 1, 0.1, 1])).toEqual({ bounds: [0.1, 1, Infinity], counts: [1, 6, 8], sum: 4 });
  });

  test('refuses a bound that it does not have', () => {
    expect(rebucket(fine, [0.2, 0.5, Infinity])).toBeNull();
    expect(rebucket({ ...fine, bounds: [1, 2, 3, 4, 5] }, [1, Infinity])).toBeNull();
  });

  test('is what observing on the coarse grid gives', () => {
    const values = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 30 });
    const grid = fc.uniqueArray(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(values, grid, fc.nat(), (observed, finite, bits) => {
        const count = (bound: number): number => observed.filter((value) => value <= bound).length;
        const bounds = [...finite.sort((a, b) => a - b), Infinity];
        const coarse = bounds.filter((bound, i) => bound === Infinity || (bits >> i) & 1);
        const h = { bounds, counts: bounds.map(count), sum: 1 };
        expect(rebucket(h, coarse)).toEqual({ bounds: coarse, counts: coarse.map(count), sum: 1 });
      }),
    );
  });
});
