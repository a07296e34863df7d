import type { NativeSeries, PrometheusSeries } from '../../prometheus/query-prometheus.ts';
import { nativeBuckets, bucketSeries, observedBetween, storedOnce } from './load-buckets.ts';

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

/** The buckets of a series with cumulative counts; without a name where a query took it away. */
function buckets(family: string | null, counts: Record<string, number>, labels: Record<string, string> = {}) {
  return Object.entries(counts).map(([le, count]): PrometheusSeries => {
    const name: Record<string, string> = family === null ? {} : { __name__: `${family}_bucket` };
    return { refId: 'a', labels: { ...name, job: 'j', instance: 'i', le, ...labels }, times: [0], values: [count] };
  });
}

const FACTS = { startsAtZero: true, restarted: false, reset: new Set<string>() };

test('puts the buckets of a series together, in the order of their bounds', () => {
  expect(
    bucketSeries([
      ...buckets('a', { '+Inf': 9, '1.0': 3 }, { engine: '0' }),
      ...buckets('b', { '2': 1, '+Inf': 1 }, { engine: '0' }),
    ])
  ).toEqual([
    {
      family: 'a',
      isNative: false,
      labels: { engine: '0' },
      histogram: { bounds: [1, Infinity], counts: [3, 9], sum: null },
    },
    {
      family: 'b',
      isNative: false,
      labels: { engine: '0' },
      histogram: { bounds: [2, Infinity], counts: [1, 1], sum: null },
    },
  ]);
  expect(bucketSeries(buckets(null, { '1': 2, '+Inf': 2 }), 'c')[0]?.family).toBe('c');
});

test('the difference of both edges are true counts', () => {
  const start = bucketSeries(buckets('a', { '1': 10, '+Inf': 20 }));
  const end = bucketSeries(buckets('a', { '1': 13, '+Inf': 27 }));
  const { exact, estimated } = observedBetween(start, end, FACTS);
  expect(exact).toMatchObject([{ family: 'a', exact: true, histogram: { counts: [3, 7] } }]);
  expect(estimated).toEqual([]);
});

test('a series that is new counts from 0 only when its server was scraped at the start, or started since', () => {
  const end = bucketSeries(buckets('a', { '1': 3, '+Inf': 7 }));
  expect(observedBetween([], end, FACTS).exact).toMatchObject([{ histogram: { counts: [3, 7] } }]);
  expect(observedBetween([], end, { ...FACTS, startsAtZero: false })).toEqual({ exact: [], estimated: ['a'] });
});

test.each([
  ['counts that fell', { '1': 1, '+Inf': 2 }, FACTS],
  ['other bounds', { '2': 11, '+Inf': 21 }, FACTS],
  ['a reset in between', { '1': 11, '+Inf': 21 }, { ...FACTS, reset: new Set(['a']) }],
  ['a process that started in between', { '1': 11, '+Inf': 21 }, { ...FACTS, restarted: true }],
])('%s: the family is estimated', (_, counts, facts) => {
  const start = bucketSeries(buckets('a', { '1': 10, '+Inf': 20 }));
  expect(observedBetween(start, bucketSeries(buckets('a', counts)), facts)).toEqual({ exact: [], estimated: ['a'] });
});

test('one series that was reset makes its whole family an estimate', () => {
  const start = bucketSeries([
    ...buckets('a', { '1': 10, '+Inf': 20 }, { engine: '0' }),
    ...buckets('a', { '1': 10, '+Inf': 20 }, { engine: '1' }),
  ]);
  const end = bucketSeries([
    ...buckets('a', { '1': 11, '+Inf': 21 }, { engine: '0' }),
    ...buckets('a', { '1': 0, '+Inf': 1 }, { engine: '1' }),
  ]);
  expect(observedBetween(start, end, FACTS)).toEqual({ exact: [], estimated: ['a'] });
});

test('a family that was stored in the other kind at the start is estimated', () => {
  const start = bucketSeries(buckets('a', { '1': 10, '+Inf': 20 }));
  const end = bucketSeries(buckets('a', { '1': 11, '+Inf': 21 })).map((one) => ({ ...one, isNative: true }));
  expect(observedBetween(start, end, FACTS)).toEqual({ exact: [], estimated: ['a'] });
});

test('a family that is stored in both kinds counts once', () => {
  const classic = bucketSeries([...buckets('a', { '+Inf': 9 }), ...buckets('b', { '+Inf': 9 })]);
  const native = classic.slice(0, 1).map((one) => ({ ...one, isNative: true }));
  const alone = native.map((one) => ({ ...one, family: 'c' }));
  expect(storedOnce([...classic, ...native, ...alone]).map(({ family, isNative }) => [family, isNative])).toEqual([
    ['a', false],
    ['b', false],
    ['c', true],
  ]);
});
