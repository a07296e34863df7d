import { describe, expect, test } from '@jest/globals';

import { type Exposition, classicHistograms, type ClassicHistogramSeries } from './exposition.ts';
import { parseText } from './parse.ts';
import { parseOpenMetrics } from './testing/open-metrics.ts';

const text = (...lines: string[]): Exposition => parseText(new TextEncoder().encode(lines.join('\n') + '\n'));
function series(exposition: Exposition, name: string): ClassicHistogramSeries[] {
  const family = exposition.family(name);
  return family === undefined ? [] : classicHistograms(exposition, family);
}

describe('classicHistograms', () => {
  test('one series per label set, bounds ascending whatever the order of the page', () => {
    const page = text(
      '# TYPE h histogram',
      'h_bucket{m="a",le="+Inf"} 5',
      'h_bucket{m="b",le="1"} 0',
      'h_bucket{m="a",le="2.5"} 3',
      'h_bucket{le="1.0",m="a"} 1',
      'h_sum{m="a"} 9.5',
      'h_count{m="a"} 5',
      'h_bucket{m="b",le="+Inf"} 0',
    );
    expect(series(page, 'h').map((one) => ({ ...one, labels: { ...one.labels } }))).toEqual([
      {
        labels: { m: 'a' },
        bounds: [1, 2.5, Infinity],
        counts: [1, 3, 5],
        sum: 9.5,
        count: 5,
        createdSeconds: null,
        timestampSeconds: null,
        unreadableBuckets: 0,
      },
      {
        labels: { m: 'b' },
        bounds: [1, Infinity],
        counts: [0, 0],
        sum: null,
        count: null,
        createdSeconds: null,
        timestampSeconds: null,
        unreadableBuckets: 0,
      },
    ]);
  });

  test('counts of the same bound are added, an unreadable bound is omitted and counted', () => {
    const page = text(
      '# TYPE h histogram',
      'h_bucket{le="1"} 1',
      'h_bucket{le="1.0"} 2',
      'h_bucket{le="NaN"} 7',
      'h_bucket{le="x"} 7',
      'h_bucket 7',
      'h_bucket{le="+Inf"} 9',
    );
    expect(series(page, 'h')).toMatchObject([{ bounds: [1, Infinity], counts: [3, 9], unreadableBuckets: 3 }]);
  });

  test('a missing +Inf stays missing, falling counts stay as they are', () => {
    const page = text('# TYPE h histogram', 'h_bucket{le="1"} 5', 'h_bucket{le="2"} 4', 'h_count 6');
    expect(series(page, 'h')).toMatchObject([{ bounds: [1, 2], counts: [5, 4], count: 6, sum: null }]);
  });

  test('times are apart; start times and gauge histograms of OpenMetrics', () => {
    const page = parseOpenMetrics(
      new TextEncoder().encode(
        [
          '# TYPE h histogram',
          'h_bucket{le="+Inf"} 1 10',
          'h_count 1 10',
          'h_sum 2 10',
          'h_created 3 10',
          'h_bucket{le="+Inf"} 2 20',
          '# TYPE g gaugehistogram',
          'g_bucket{le="+Inf"} 4',
          'g_gcount 4',
          'g_gsum 8',
          '# EOF',
        ].join('\n'),
      ),
    );
    expect(series(page, 'h')).toMatchObject([
      { timestampSeconds: 10, counts: [1], count: 1, sum: 2, createdSeconds: 3 },
      { timestampSeconds: 20, counts: [2], count: null, sum: null, createdSeconds: null },
    ]);
    expect(series(page, 'g')).toMatchObject([{ counts: [4], count: 4, sum: 8 }]);
  });

  test('other families have none, not even a gauge with a label le', () => {
    const page = text('# TYPE g gauge', 'g{le="30"} 6', 'u_bucket{le="1"} 1');
    expect(series(page, 'g')).toEqual([]);
    expect(series(page, 'u_bucket')).toEqual([]);
  });
});
