import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addHistograms } from './add.ts';
import { histogramDelta } from './delta.ts';

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
