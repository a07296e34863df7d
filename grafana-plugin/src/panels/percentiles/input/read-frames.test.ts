import { bucketFrames } from '../../../../test/bucket-frames.ts';
import { panelData } from '../../../../test/panel-data.ts';
import { queryExpressions } from './query-expressions.ts';
import { readFrames } from './read-frames.ts';

function read(name: string) {
  const { series } = panelData(name);
  return readFrames(series, queryExpressions(series));
}

const COUNTER = { __name__: 'x_bucket' };

describe('what a real Grafana 12.4 delivers', () => {
  const BOUNDS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2, Infinity];

  test('raw counters: one series per run, cumulative, bounds in numeric order', () => {
    const { series, problems } = read('raw-cumulative-counters');
    expect(problems).toEqual([]);
    expect(series.map(({ labels }) => labels['run_id'])).toEqual(['r7', 'r8', 'r9']);
    const [first] = series;
    expect(first).toMatchObject({ kind: 'counters', trueCounts: true, bounds: BOUNDS, stepMs: 2000 });
    expect(first?.metric).toBe('llmbench_time_to_first_token_seconds');
    expect(first?.labels).toEqual({ instance: '127.0.0.1:18210', job: 'llmbench', run_id: 'r7' });
    expect(first?.samples).toHaveLength(37);
    expect(first?.samples[0]?.counts).toEqual([2, 136, 1410, 3242, 5664, 6802, 7116, 7252, 7256]);
  });

  test('rate() in the time series format', () => {
    const { series, problems } = read('classic-time-series');
    expect(problems).toEqual([]);
    expect(series).toHaveLength(1);
    expect(series[0]).toMatchObject({ kind: 'rates', trueCounts: false, metric: null, labels: {}, bounds: BOUNDS });
    expect(series[0]?.samples).toHaveLength(88);
  });

  test('rate() in the heatmap format gives the same histograms', () => {
    const [heatmap] = read('classic-heatmap').series;
    const [timeSeries] = read('classic-time-series').series;
    expect(heatmap).toMatchObject({ kind: 'rates', bounds: BOUNDS });
    expect(heatmap?.samples).toHaveLength(88);
    heatmap?.samples.forEach(({ timeMs, counts }, i) => {
      const other = timeSeries?.samples[i];
      expect(timeMs).toBe(other?.timeMs);
      counts.forEach((count, bucket) => expect(count).toBeCloseTo(other?.counts[bucket] ?? NaN, 9));
    });
  });

  test('a heatmap by two labels: one series per run', () => {
    const { series } = read('heatmap-two-labels');
    expect(series.map(({ labels }) => labels)).toEqual([{ run_id: 'r7' }, { run_id: 'r8' }, { run_id: 'r9' }]);
  });

  test('an instant table with increase(): a total without a promise', () => {
    const { series, problems } = read('instant-table');
    expect(problems).toEqual([]);
    expect(series).toHaveLength(1);
    expect(series[0]).toMatchObject({ kind: 'total', trueCounts: false, bounds: BOUNDS });
    expect(series[0]?.samples[0]?.counts[3]).toBe(665.3003299651567);
  });

  test('two queries: the histogram is drawn, the line without "le" is named', () => {
    const { series, problems } = read('two-queries');
    expect(series.map(({ refId }) => refId)).toEqual(['A']);
    expect(problems).toEqual([expect.objectContaining({ refId: 'B', title: expect.stringContaining('"le"') })]);
  });

  test('native histograms are refused by name', () => {
    const { series, problems } = read('native-heatmap');
    expect(series).toEqual([]);
    expect(problems).toEqual([expect.objectContaining({ refId: 'A', title: expect.stringContaining('Native') })]);
  });
});

describe('what the counts are', () => {
  const buckets = { '1': [1, 2, 4], '+Inf': [1, 3, 6] };
  const kindOf = (labels: Record<string, string>, expression?: string, counts = buckets) => {
    const frames = bucketFrames({ labels, buckets: counts, ...(expression !== undefined && { expression }) });
    const { series, problems } = readFrames(frames, queryExpressions(frames));
    return series[0]?.kind ?? problems[0]?.title;
  };

  test('whole numbers under the name of a bucket are raw counters', () => {
    expect(kindOf(COUNTER, 'x_bucket')).toBe('counters');
  });

  test('counters that were added up are refused, because resets are lost', () => {
    expect(kindOf({}, 'sum by (le) (x_bucket)')).toMatch(/added up/);
  });

  test('rate(), increase() and recording rules that are named so are rates, also where they happen to be whole', () => {
    expect(kindOf({}, 'sum by (le) (rate(x_bucket[1m]))')).toBe('rates');
    expect(kindOf({}, 'increase(x_bucket[1m])')).toBe('rates');
    expect(kindOf({ __name__: 'job:x_bucket:rate1m' }, 'job:x_bucket:rate1m')).toBe('rates');
  });

  test('without the text of the query nothing more than rates is assumed', () => {
    expect(kindOf({})).toBe('rates');
  });

  test('fractions under the name of a bucket are no counters', () => {
    expect(kindOf(COUNTER, 'x_bucket', { '1': [0.5, 1, 2], '+Inf': [1, 2.5, 4] })).toBe('rates');
  });

  test('an instant table of whole numbers without rate() holds true counts', () => {
    const frames = panelData('instant-table').series;
    const value = frames[0]?.fields.find(({ name }) => name === 'Value');
    value?.values.splice(0, 9, 0, 20, 250, 665, 1370, 1739, 1882, 1947, 1948);
    const total = (expression: string) => readFrames(frames, new Map([['A', expression]])).series[0]?.trueCounts;
    expect(total('sum by (le) (last_over_time(x_bucket[180s]))')).toBe(true);
    expect(total('sum by (le) (increase(x_bucket[180s]))')).toBe(false);
  });
});

describe('unusual answers', () => {
  test('no frames: neither series nor problems', () => {
    expect(readFrames([], new Map())).toEqual({ series: [], problems: [] });
  });

  test('a filter has removed the bucket +Inf', () => {
    const { series, problems } = readFrames(bucketFrames({ labels: COUNTER, buckets: { '1': [1, 2] } }), new Map());
    expect(series).toEqual([]);
    expect(problems[0]?.title).toContain('+Inf');
  });

  test('one sample of counters has no difference', () => {
    const frames = bucketFrames({ labels: COUNTER, buckets: { '1': [1], '+Inf': [1] } });
    expect(readFrames(frames, new Map()).problems[0]?.title).toContain('one sample');
  });

  test('a change of the bounds in the range makes two series', () => {
    const frames = [
      ...bucketFrames({ labels: COUNTER, buckets: { '+Inf': [1, 2, 3, 4] } }),
      ...bucketFrames({ labels: COUNTER, buckets: { '1': [1, 2] }, seconds: [1, 2] }),
      ...bucketFrames({ labels: COUNTER, buckets: { '2': [2, 3] }, seconds: [3, 4] }),
    ];
    const { series } = readFrames(frames, new Map());
    expect(series.map(({ bounds }) => bounds)).toEqual([
      [1, Infinity],
      [2, Infinity],
    ]);
    expect(series[1]?.samples).toEqual([
      { timeMs: 3000, counts: [2, 3] },
      { timeMs: 4000, counts: [3, 4] },
    ]);
  });

  test('several queries with the same labels stay apart', () => {
    const buckets = { '1': [1, 2], '+Inf': [1, 3] };
    const frames = ['A', 'B'].flatMap((refId) => bucketFrames({ refId, labels: COUNTER, buckets }));
    expect(readFrames(frames, new Map()).series.map(({ refId }) => refId)).toEqual(['A', 'B']);
  });
});

test("the panel's query text stands in where the data source does not tell what it executed", () => {
  const targets = [{ refId: 'A', expr: 'sum by (le) (x_bucket)' }];
  expect(queryExpressions([], targets).get('A')).toBe('sum by (le) (x_bucket)');
  const frames = bucketFrames({ buckets: { '+Inf': [1] }, expression: 'x_bucket{a="b"}' });
  expect(queryExpressions(frames, targets).get('A')).toBe('x_bucket{a="b"}');
});
