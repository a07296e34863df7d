import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CUSTOM_BUCKETS_SCHEMA, exponentialBound } from '../../../core/histogram/native-histogram.ts';
import { recordedHistogram } from './recorded-histogram.ts';

const text = (bound: number): string => (bound === Infinity ? '+Inf' : bound === -Infinity ? '-Inf' : String(bound));

describe('a native histogram of the query API', () => {
  test('has the schema, the places and the zero bucket that its buckets show', () => {
    // As Prometheus 2.42 writes it: [rule, low, high, count].
    const value = {
      count: '8',
      sum: '12.5',
      buckets: [
        [1, '-2', '-1.414213562373095', '1'],
        [3, '-0.001', '0.001', '2'],
        [0, '0.7071067811865475', '1', '3'],
        [0, '2', '2.82842712474619', '2'],
      ],
    };
    expect(recordedHistogram(value)).toEqual({
      ...{ schema: 1, count: 8, sum: 12.5, zeroThreshold: 0.001, zeroCount: 2, customBounds: null },
      negative: [{ index: 2, low: -2, high: -1.414213562373095, count: 1 }],
      positive: [
        { index: 0, low: 0.7071067811865475, high: 1, count: 3 },
        { index: 3, low: 2, high: 2.82842712474619, count: 2 },
      ],
    });
  });

  test('finds the place of each bucket of each schema', () => {
    const schemas = fc.integer({ min: -4, max: 8 });
    fc.assert(
      fc.property(schemas, fc.uniqueArray(fc.integer({ min: -60, max: 60 }), { minLength: 1 }), (schema, indexes) => {
        const places = indexes.filter((index) => Math.abs(index) < 60 * 2 ** Math.min(0, schema)).sort((a, b) => a - b);
        const ends = (index: number): readonly string[] =>
          [index - 1, index].map((each) => text(exponentialBound(each, schema)));
        const buckets = places.map((index) => [0, ...ends(index), '1']);
        const found = recordedHistogram({ count: String(places.length), sum: '1', buckets });
        if (places.length > 0) expect(found?.schema).toBe(schema);
        expect(found?.positive.map(({ index }) => index)).toEqual(places);
      }),
    );
  });

  test('of custom buckets has the known bounds', () => {
    const buckets = [
      [0, '-Inf', '0.005', '2'],
      [0, '0.02', '0.04', '3'],
      [0, '0.1', '+Inf', '1'],
    ];
    expect(recordedHistogram({ count: '6', sum: '1', buckets })).toMatchObject({
      ...{ schema: CUSTOM_BUCKETS_SCHEMA, customBounds: [0.005, 0.02, 0.04, 0.1] },
      positive: [
        { index: 0, high: 0.005, count: 2 },
        { index: 2, high: 0.04, count: 3 },
        { index: 4, high: Infinity, count: 1 },
      ],
    });
  });

  test('whose first bucket begins at the zero bucket has the schema of the others', () => {
    const buckets = [
      [3, '-0.3', '0.3', '1'],
      [0, '0.3', '0.5', '1'],
      [0, '0.5', '1', '1'],
    ];
    expect(recordedHistogram({ count: '3', sum: '1', buckets })).toMatchObject({
      schema: 0,
      positive: [{ index: -1 }, { index: 0 }],
    });
  });

  test('without observations, or with the last bucket of numbers, is read', () => {
    expect(recordedHistogram({ count: '0', sum: '0' })).toMatchObject({ count: 0, positive: [], negative: [] });
    const huge = [[0, '1.7976931348623157e+308', '+Inf', '1']];
    expect(recordedHistogram({ count: '1', sum: '+Inf', buckets: huge })).toMatchObject({ sum: Infinity, count: 1 });
  });

  test.each([
    ['no object', 1],
    ['without a count', { sum: '1' }],
    ['with buckets that are no list', { count: '1', sum: '1', buckets: 'x' }],
    ['with a bucket that is none', { count: '1', sum: '1', buckets: [[0, '1']] }],
    ['with ends of no known rule', { count: '1', sum: '1', buckets: [[2, '0.3', '0.4', '1']] }],
  ])('%s is none', (_, value) => {
    expect(recordedHistogram(value)).toBeNull();
  });
});
