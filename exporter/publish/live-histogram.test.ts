import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LiveHistogram } from './live-histogram.ts';

const bucketsOf = (histogram: LiveHistogram): (readonly [string, number])[] =>
  histogram
    .samples()
    .flatMap(({ labels, value }) => (labels['le'] === undefined ? [] : [[labels['le'], value] as const]));

describe('LiveHistogram', () => {
  test('edges belong to the bucket below: (low, high]', () => {
    const histogram = new LiveHistogram('x_seconds', 'x', { run_id: 'r' }, [0, 0.5, 1]);
    for (const value of [0, 0.5, 0.75, 1, 2]) histogram.observe(value);
    expect(histogram.samples()).toEqual([
      { metricName: 'x_seconds_bucket', labels: { le: '0.0' }, sharedLabels: { run_id: 'r' }, value: 1 },
      { metricName: 'x_seconds_bucket', labels: { le: '0.5' }, sharedLabels: { run_id: 'r' }, value: 2 },
      { metricName: 'x_seconds_bucket', labels: { le: '1.0' }, sharedLabels: { run_id: 'r' }, value: 4 },
      { metricName: 'x_seconds_bucket', labels: { le: '+Inf' }, sharedLabels: { run_id: 'r' }, value: 5 },
      { metricName: 'x_seconds_sum', labels: {}, sharedLabels: { run_id: 'r' }, value: 4.25 },
      { metricName: 'x_seconds_count', labels: {}, sharedLabels: { run_id: 'r' }, value: 5 },
    ]);
  });

  test('each cumulative count is the number of values at or below the bound', () => {
    const finite = fc.double({ min: -10, max: 100, noNaN: true });
    fc.assert(
      fc.property(fc.uniqueArray(finite, { minLength: 1, maxLength: 120 }), fc.array(finite), (unsorted, values) => {
        const bounds = unsorted.sort((a, b) => a - b);
        const histogram = new LiveHistogram('x', 'x', {}, bounds);
        for (const value of values) histogram.observe(value);
        const expected = bounds.map((bound) => values.filter((value) => value <= bound).length);
        expect(bucketsOf(histogram).map(([, count]) => count)).toEqual([...expected, values.length]);
      }),
    );
  });
});
