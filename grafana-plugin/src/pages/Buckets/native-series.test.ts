import type { NativeSeries } from '../../prometheus/query-prometheus.ts';
import { nativeBuckets } from './native-series.ts';

type Bucket = [low: number, high: number, count: number];

const native = (labels: Record<string, string>, ...buckets: Bucket[]): NativeSeries => ({
  refId: 'a',
  labels: { __name__: 'x_seconds', job: 'j', instance: 'i', ...labels },
  cells: {
    times: buckets.map(() => 1000),
    lows: buckets.map(([low]) => low),
    highs: buckets.map(([, high]) => high),
    counts: buckets.map(([, , count]) => count),
  },
});

test('all series and moments of a family have one grid, and empty histograms are there', () => {
  const { moments, schemas } = nativeBuckets([
    [native({ engine: '0' }, [1, 2, 3]), native({ engine: '1' })],
    [native({ engine: '0' }, [1, 2, 4], [4, 8, 5]), native({ engine: '1' }, [2, 4, 1])],
  ]);
  const of = (counts: number[], engine: string) => ({
    family: 'x_seconds',
    isNative: true,
    labels: { engine },
    histogram: { bounds: [1, 2, 4, 8, Infinity], counts, sum: null },
  });
  expect(moments).toEqual([
    [of([0, 3, 3, 3, 3], '0'), of([0, 0, 0, 0, 0], '1')],
    [of([0, 4, 4, 9, 9], '0'), of([0, 0, 1, 1, 1], '1')],
  ]);
  expect(schemas).toEqual(new Map([['x_seconds', 0]]));
});

test('custom bounds have no schema; the family is that of the query where it took the name away', () => {
  const increase = native({ __name__: '' }, [-Infinity, 0.1, 2.5], [0.5, 0.8, 1]);
  const { moments, schemas } = nativeBuckets([[increase]], 'y_seconds');
  expect(schemas).toEqual(new Map([['y_seconds', null]]));
  expect(moments[0]?.[0]).toMatchObject({
    family: 'y_seconds',
    histogram: { bounds: [0.1, 0.5, 0.8, Infinity], counts: [2.5, 2.5, 3.5, 3.5] },
  });
});
