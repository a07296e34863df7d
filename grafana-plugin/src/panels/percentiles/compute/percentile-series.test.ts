import { FieldType, toDataFrame } from '@grafana/data';
import { quantileBounds } from '../../../../../core/histogram/bounds.ts';
import { histogramQuantile } from '../../../../../core/histogram/quantile.ts';
import { bucketFrames } from '../../../../test/bucket-frames.ts';
import { panelData } from '../../../../test/panel-data.ts';
import { queryExpressions } from '../input/query-expressions.ts';
import { readFrames } from '../input/read-frames.ts';
import { percentilesOf, samplingInterval } from './percentile.ts';
import { percentileSeries, sloShare, type PercentileRequest, type PercentileSeries } from './percentile-series.ts';

const REQUEST: PercentileRequest = { quantiles: [0.5, 0.9, 0.99], windowMs: null };

/** With its points as objects. */
function inFull(series: PercentileSeries) {
  return { ...series, points: [...series.points] };
}

function compute(name: string, request = REQUEST) {
  const { series } = panelData(name);
  return readFrames(series, queryExpressions(series)).series.map((one) => inFull(percentileSeries(one, request)));
}

/** Raw counters of one series. */
function counters(buckets: Record<string, number[]>, request = REQUEST, seconds?: number[]) {
  const frames = bucketFrames({ labels: { __name__: 'x_bucket' }, buckets, ...(seconds && { seconds }) });
  const [series] = readFrames(frames, new Map()).series;
  if (!series) {
    throw new Error('no series');
  }
  return inFull(percentileSeries(series, request));
}

describe('raw counters of a real Grafana', () => {
  // Run r7, last sample minus first, by hand: 0 0 81 229 492 595 622 632 632 up to 0.05 … 2, +Inf.
  test('the whole range of run r7', () => {
    const range = compute('raw-cumulative-counters')[0]?.range;
    expect(range).toMatchObject({ n: 632, reset: false, startMs: 1795285774000, endMs: 1795285846000 });
    const [p50, p90, p99] = range?.percentiles ?? [];
    // rank 316 of (229, 492] in 0.3 … 0.5; 568.8 of (492, 595] in 0.5 … 0.75; 625.68 of (622, 632] in 1 … 2
    expect(p50?.estimate).toBeCloseTo(0.3 + (0.2 * 87) / 263, 12);
    expect(p90?.estimate).toBeCloseTo(0.5 + (0.25 * 76.8) / 103, 12);
    expect(p99?.estimate).toBeCloseTo(1.368, 12);
    expect([p50, p90, p99].map((p) => [p?.low, p?.high])).toEqual([
      [0.3, 0.5],
      [0.5, 0.75],
      [1, 2],
    ]);
  });

  test('a window of one step counts the first difference: 0 0 6 16 29 36 37 39 39', () => {
    const [first] = compute('raw-cumulative-counters', { ...REQUEST, windowMs: 2000 })[0]?.points ?? [];
    expect(first).toMatchObject({ n: 39, startMs: 1795285774000, endMs: 1795285776000 });
    // rank 19.5 of (16, 29] in 0.3 … 0.5
    expect(first?.percentiles[0]).toMatchObject({ low: 0.3, high: 0.5, overflow: false });
    expect(first?.percentiles[0]?.estimate).toBeCloseTo(0.3 + (0.2 * 3.5) / 13, 12);
  });

  test('the automatic window takes about 100 observations together: three steps of 40', () => {
    expect(compute('raw-cumulative-counters').map(({ windowMs }) => windowMs)).toEqual([6000, 6000, 2000]);
  });

  test('where nothing was observed there is no point', () => {
    const points = compute('raw-cumulative-counters', { ...REQUEST, windowMs: 2000 })[0]?.points ?? [];
    // Run r7 ends 32 s into the range; 7533 and 7612 are seen twice.
    expect(points.at(-1)?.endMs).toBe(1795285806000);
    expect(points.every(({ n }) => (n ?? 0) > 0)).toBe(true);
  });
});

describe('rates of a real Grafana', () => {
  test("the estimates are Prometheus' own histogram_quantile(0.99) of the same query", () => {
    const [computed] = compute('classic-time-series');
    const [expected] = panelData('two-queries').series;
    const [time, value] = expected?.fields ?? [];
    const byTime = new Map(
      time?.values.flatMap((ms: number, i: number): Array<[number, number]> => {
        const quantile: unknown = value?.values[i];
        return typeof quantile === 'number' && !Number.isNaN(quantile) ? [[ms, quantile]] : [];
      })
    );
    expect(byTime.size).toBeGreaterThan(0);
    expect(computed?.points.map(({ endMs, percentiles }) => [endMs, percentiles[2]?.estimate])).toEqual([...byTime]);
    expect(computed?.points.every(({ n }) => n === null)).toBe(true);
  });

  test('both formats agree', () => {
    const [heatmap] = compute('classic-heatmap');
    const [timeSeries] = compute('classic-time-series');
    expect(heatmap?.points).toHaveLength(timeSeries?.points.length ?? NaN);
    heatmap?.points.forEach(({ endMs, percentiles }, i) => {
      expect(endMs).toBe(timeSeries?.points[i]?.endMs);
      percentiles.forEach((percentile, j) => {
        const other = timeSeries?.points[i]?.percentiles[j];
        expect(percentile.estimate).toBeCloseTo(other?.estimate ?? NaN, 9);
        expect([percentile.low, percentile.high]).toEqual([other?.low, other?.high]);
      });
    });
  });

  test('an instant table: rank 974.04 of (665.3, 1370.28] in 0.3 … 0.5', () => {
    const [total] = compute('instant-table');
    expect(total?.range?.percentiles[0]).toMatchObject({ low: 0.3, high: 0.5 });
    expect(total?.range?.percentiles[0]?.estimate).toBeCloseTo(0.387588, 6);
    expect(total?.range?.n).toBeNull();
  });
});

describe('overflow', () => {
  test('a percentile beyond the last bound is "> edge"', () => {
    // Ten observations, four of them above 2.
    const { range } = counters({ '1': [0, 3], '2': [0, 6], '+Inf': [0, 10] });
    expect(range?.percentiles[0]).toMatchObject({ overflow: false, low: 1, high: 2 });
    expect(range?.percentiles[1]).toMatchObject({ overflow: true, estimate: 2, low: 2, high: Infinity });
  });

  test('an interval may reach into the overflow while the estimate does not', () => {
    // n = 2: the median lies between a value in (1, 2] and one above 2.
    const { range } = counters({ '1': [0, 0], '2': [0, 1], '+Inf': [0, 2] }, { quantiles: [0.5], windowMs: null });
    expect(range?.percentiles[0]).toMatchObject({ overflow: false, estimate: 2, low: 1, high: Infinity });
  });

  test('everything in the overflow bucket', () => {
    const { range } = counters({ '1': [0, 0], '+Inf': [0, 5] });
    expect(range?.percentiles.every(({ overflow, estimate }) => overflow && estimate === 1)).toBe(true);
  });
});

describe('resets', () => {
  // 10, 30, then a restart after which 4 and 10 were counted: 20 + 4 + 6 in all.
  const RESET = { '1': [10, 20, 1, 2], '+Inf': [10, 30, 4, 10] };

  test('after a reset the counts begin at 0, for all buckets alike', () => {
    const { points, range } = counters(RESET, { ...REQUEST, windowMs: 1000 });
    expect(points.map(({ n, reset }) => [n, reset])).toEqual([
      [20, false],
      [4, true],
      [6, false],
    ]);
    expect(range).toMatchObject({ n: 30, reset: true });
  });

  test('a reset is seen when one bucket alone falls', () => {
    const { range } = counters({ '1': [10, 3], '+Inf': [10, 12] });
    expect(range).toMatchObject({ n: 12, reset: true });
  });
});

test('a scrape in which a lower bound has counted more is repaired as Prometheus does it', () => {
  // 3, 2, 4 is read as 3, 3, 4: rank 2 of 3 in (0, 1].
  const { points, range } = counters(
    { '1': [0, 3, 5], '2': [0, 2, 7], '+Inf': [0, 4, 8] },
    { ...REQUEST, windowMs: 1000 }
  );
  expect(points[0]?.percentiles[0]?.estimate).toBeCloseTo(2 / 3, 12);
  expect(points[0]?.percentiles[0]).toMatchObject({ low: 0, high: 1 });
  // The whole range is in order again: 5, 7, 8.
  expect(range?.percentiles[0]?.estimate).toBeCloseTo(0.8, 12);
});

describe('gaps and windows', () => {
  const buckets = { '1': [0, 10, 20, 30, 40, 50], '+Inf': [0, 10, 20, 30, 40, 50] };

  test('no window reaches over a missing sample, but the whole range counts it', () => {
    const { points, range } = counters(buckets, { ...REQUEST, windowMs: 2000 }, [1, 2, 3, 7, 8, 9]);
    expect(points.map(({ startMs, endMs, n }) => [startMs, endMs, n])).toEqual([
      [1000, 2000, 10],
      [1000, 3000, 20],
      [7000, 8000, 10],
      [7000, 9000, 20],
    ]);
    expect(range?.n).toBe(50);
  });

  test('a window slides: what leaves it is no longer counted', () => {
    const growing = { '1': [0, 1, 3, 7, 15, 31], '+Inf': [0, 1, 3, 7, 15, 31] };
    const { points } = counters(growing, { ...REQUEST, windowMs: 3000 });
    expect(points.map(({ n }) => n)).toEqual([1, 3, 7, 14, 28]);
  });

  test('no observations at all: no points and no range', () => {
    const { points, range } = counters({ '1': [5, 5, 5], '+Inf': [5, 5, 5] });
    expect(points).toEqual([]);
    expect(range).toBeNull();
  });

  test('where scrapes are rarer than steps, a window holds at least one of them', () => {
    // A scrape every 5 s with 1000 observations, read every second for two minutes.
    const counts = Array.from({ length: 120 }, (_, i) => Math.floor(i / 5) * 1000);
    const { windowMs, points } = counters({ '1': counts, '+Inf': counts });
    expect(windowMs).toBe(5000);
    expect(points.slice(4).every(({ n }) => n === 1000)).toBe(true);
  });
});

describe('native histograms of a real Grafana', () => {
  test('the estimates are interpolated exponentially, as histogram_quantile does', () => {
    const [native] = compute('native-heatmap');
    const [first, second] = native?.points ?? [];
    // One bucket (0.0039…, 0.0043…] of schema 3: p50 is its geometric middle.
    expect(first?.percentiles[0]?.estimate).toBeCloseTo(0.00390625 * 2 ** (0.5 / 8), 15);
    expect(first?.percentiles[0]).toMatchObject({ low: 0.00390625, high: 0.004259795830723663 });
    // Two buckets of equal counts: p90 lies at 0.8 of the upper one.
    expect(second?.percentiles[1]?.estimate).toBeCloseTo(0.00390625 * 2 ** (0.8 / 8), 15);
    expect(first?.n).toBeNull();
  });
});

describe('bounds narrowed by the sum of the values', () => {
  const frames = (sums: number[]) => [
    ...bucketFrames({ labels: { __name__: 'x_bucket' }, buckets: { '1': [0, 0], '10': [0, 4], '+Inf': [0, 4] } }),
    toDataFrame({
      refId: 'A',
      fields: [
        { name: 'Time', type: FieldType.time, config: { interval: 1000 }, values: [1000, 2000] },
        { name: 'Value', type: FieldType.number, labels: { __name__: 'x_sum' }, values: sums },
      ],
    }),
  ];
  const p99 = (sums: number[]) => {
    const [series] = readFrames(frames(sums), new Map()).series;
    return series && percentileSeries(series, REQUEST).range?.percentiles[2];
  };

  test('four values in (1, 10] that add up to 8: none is above 8 - 3 * 1 = 5', () => {
    expect(p99([0, 8])).toMatchObject({ narrowed: true, low: 1 });
    expect(p99([0, 8])?.high).toBeCloseTo(5, 6);
  });

  test('a sum that does not fit the buckets is not used, and counted', () => {
    expect(p99([0, 3])).toMatchObject({ narrowed: false, infeasibleSum: true, low: 1, high: 10 });
  });
});

describe('late scrapes', () => {
  test('a first sample above 0 says from when it counts', () => {
    expect(counters({ '1': [3, 5], '+Inf': [3, 5] }).lateMs).toBe(1000);
    expect(counters({ '1': [0, 5], '+Inf': [0, 5] }).lateMs).toBeNull();
  });
});

describe('sampling', () => {
  test('ranks of the binomial distribution: of 100 values around the median, those of 39.7 and 60.3, rounded outwards', () => {
    // Uniform in (0, 1]: the value of a rank is its share. 50 ± (1.96 * 5 + 0.5).
    const interval = samplingInterval(0.5, { bounds: [1, Infinity], counts: [100, 100], sum: null }, false);
    expect(interval?.low).toBeCloseTo(0.39, 12);
    expect(interval?.high).toBeCloseTo(0.61, 12);
  });

  test('too few observations for an upper end: p99 of 100', () => {
    const interval = samplingInterval(0.99, { bounds: [1, Infinity], counts: [100, 100], sum: null }, false);
    expect(interval?.high).toBe(Infinity);
  });
});

describe('the share within an objective', () => {
  const series = counters({ '1': [0, 90], '2': [0, 98], '+Inf': [0, 100] });

  test('is exact at a bound, an interval inside a bucket, and open to all beyond the last', () => {
    expect(sloShare(series, 1)).toMatchObject({ low: 0.9, high: 0.9, certain: true });
    expect(sloShare(series, 1.5)).toMatchObject({ low: 0.9, high: 0.98, estimate: 0.94 });
    expect(sloShare(series, 5)).toMatchObject({ low: 0.98, high: 1 });
  });
});

test('whole counts are read in one go and give exactly what core gives', () => {
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let round = 0; round < 300; round++) {
    const bounds = [...Array.from({ length: 1 + Math.floor(random() * 8) }, (_, i) => (i + 1) / 8), Infinity];
    let total = 0;
    const counts = bounds.map(() => (total += random() < 0.4 ? 0 : Math.floor(random() * 9)));
    const histogram = { bounds, counts, sum: null };
    const found = percentilesOf(histogram, [0.01, 0.5, 0.99, 1], { trueCounts: true, exponential: false });
    const expected = [0.01, 0.5, 0.99, 1].map((q) => [
      histogramQuantile(q, histogram),
      quantileBounds(q, histogram)?.low,
    ]);
    expect(found?.map(({ estimate, low }) => [estimate, low]) ?? null).toEqual(total > 0 ? expected : null);
    found?.forEach(({ quantile, high }) => expect(high).toBe(quantileBounds(quantile, histogram)?.high));
  }
});
