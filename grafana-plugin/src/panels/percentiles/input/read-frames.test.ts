import { FieldType, toDataFrame } from '@grafana/data';
import { bucketFrames } from '../../../../test/bucket-frames.ts';
import { panelData } from '../../../../test/panel-data.ts';
import { countsAt, type HistogramSeries } from './histogram-series.ts';
import { queryExpressions } from './query-expressions.ts';
import { readFrames } from './read-frames.ts';

function read(name: string) {
  const { series } = panelData(name);
  return readFrames(series, queryExpressions(series));
}

/** The counts of one time. */
const row = (series: HistogramSeries | undefined, i: number) => (series ? [...countsAt(series, i)] : []);

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
    expect(first?.times).toHaveLength(37);
    expect(row(first, 0)).toEqual([2, 136, 1410, 3242, 5664, 6802, 7116, 7252, 7256]);
  });

  test('rate() in the time series format', () => {
    const { series, problems } = read('classic-time-series');
    expect(problems).toEqual([]);
    expect(series).toHaveLength(1);
    expect(series[0]).toMatchObject({ kind: 'rates', trueCounts: false, metric: null, labels: {}, bounds: BOUNDS });
    expect(series[0]?.times).toHaveLength(88);
  });

  test('rate() in the heatmap format gives the same histograms', () => {
    const [heatmap] = read('classic-heatmap').series;
    const [timeSeries] = read('classic-time-series').series;
    expect(heatmap).toMatchObject({ kind: 'rates', bounds: BOUNDS });
    expect(heatmap?.times).toHaveLength(88);
    expect(heatmap?.times).toEqual(timeSeries?.times);
    heatmap?.counts.forEach((count, i) => expect(count).toBeCloseTo(timeSeries?.counts[i] ?? NaN, 9));
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
    expect(row(series[0], 0)[3]).toBe(665.3003299651567);
  });

  test('two queries: the histogram, and the line of the other query beside it', () => {
    const { series, lines, problems } = read('two-queries');
    expect(series.map(({ refId }) => refId)).toEqual(['A']);
    expect(lines.map(({ refId, quantile, exact }) => ({ refId, quantile, exact }))).toEqual([
      { refId: 'B', quantile: null, exact: false },
    ]);
    expect(lines[0]?.values.slice(0, 2)).toEqual([1.4049999999999954, 1.6033333333333317]);
    expect(problems).toEqual([]);
  });

  test('native histograms: one row per time on the grid of all buckets of the range', () => {
    const { series, problems } = read('native-heatmap');
    expect(problems).toEqual([]);
    expect(series).toHaveLength(1);
    const [native] = series;
    expect(native).toMatchObject({ kind: 'rates', trueCounts: false, exponential: true, stepMs: 2000 });
    expect(native?.times[0]).toBe(1795285884000);
    // The first time has one bucket, (0.0039, 0.0043], the second that and (0.0033, 0.0036].
    const bounds = native?.bounds ?? [];
    const upTo = (time: number, bound: number) => row(native, time)[bounds.indexOf(bound)];
    expect(upTo(0, 0.00390625)).toBe(0);
    expect(upTo(0, 0.004259795830723663)).toBe(0.2678481963927855);
    expect(upTo(1, 0.0035820470437682465)).toBe(0.1963838838838839);
    expect(upTo(1, Infinity)).toBeCloseTo(2 * 0.1963838838838839, 12);
    expect(bounds.at(-1)).toBe(Infinity);
  });
});

describe('native histograms', () => {
  const cells = (
    rows: Array<[second: number, low: number, high: number, count: number]>,
    expression = 'sum(rate(x[1m]))'
  ) => {
    const column = (name: string, i: number) => ({ name, type: FieldType.number, values: rows.map((one) => one[i]) });
    const frame = toDataFrame({
      refId: 'A',
      meta: { type: 'heatmap-cells', executedQueryString: `Expr: ${expression}\nStep: 1s` },
      fields: [
        { name: 'xMax', type: FieldType.time, config: { interval: 1000 }, values: rows.map(([time]) => time * 1000) },
        column('yMin', 1),
        column('yMax', 2),
        column('count', 3),
      ],
    });
    return readFrames([frame], queryExpressions([frame]));
  };

  test('where the schema gets coarser in the range, the coarser buckets hold for all of it', () => {
    const { series } = cells([
      [1, 1, 2 ** 0.5, 3],
      [1, 2 ** 0.5, 2, 4],
      [2, 1, 2, 9],
    ]);
    expect(series[0]?.bounds).toEqual([1, 2, Infinity]);
    expect([row(series[0], 0), row(series[0], 1)]).toEqual([
      [0, 7, 7],
      [0, 9, 9],
    ]);
  });

  test('a zero bucket without negative ones reaches from 0', () => {
    const { series } = cells([
      [1, -0.5, 0.5, 2],
      [1, 0.5, 1, 3],
    ]);
    expect(series[0]).toMatchObject({ bounds: [0.5, 1, Infinity], exponential: true });
    expect(row(series[0], 0)).toEqual([2, 5, 5]);
  });

  test('custom bounds are not exponential', () => {
    const { series } = cells([
      [1, -Infinity, 1, 2],
      [1, 1, 2.5, 3],
      [1, 2.5, Infinity, 1],
    ]);
    expect(series[0]).toMatchObject({ bounds: [1, 2.5, Infinity], exponential: false });
  });

  test('bounds that double are custom ones unless they are powers of two', () => {
    const exponential = (...bounds: number[]) =>
      cells(bounds.slice(1).map((high, i) => [1, bounds[i] ?? NaN, high, 1])).series[0]?.exponential;
    expect(exponential(0.05, 0.1, 0.2)).toBe(false);
    expect(exponential(0.0625, 0.125, 0.25)).toBe(true);
    expect(exponential(2 ** 0.375, 2 ** 0.5, 2 ** 0.625)).toBe(true);
    expect(exponential(1.1, 1.1 * 2 ** 0.125)).toBe(false);
  });

  describe('of a query that keeps the name', () => {
    const labels = { __name__: 'x_seconds', run_id: 'a' };
    const native = (low: string, from = 1) => {
      const rows = [from, from + 1].map((second, i) => [second * 1000, 1, 2, 3 + i]);
      const column = (i: number) => rows.map((row) => row[i]);
      return toDataFrame({
        refId: 'A',
        meta: { type: 'heatmap-cells', executedQueryString: 'Expr: x_seconds_bucket or x_seconds\nStep: 1s' },
        fields: [
          { name: 'xMax', type: FieldType.time, config: { interval: 1000 }, values: column(0) },
          { name: low, type: FieldType.number, labels, values: column(1) },
          { name: 'yMax', type: FieldType.number, values: column(2) },
          { name: 'count', type: FieldType.number, values: column(3) },
          { name: 'yLayout', type: FieldType.number, values: [0, 0] },
        ],
      });
    };
    const read = (...frames: Array<ReturnType<typeof native>>) => readFrames(frames, queryExpressions(frames));

    test.each(['yMin', 'x_seconds'])('the lower edges are in the column %s', (low) => {
      const { series, problems } = read(native(low));
      expect(problems).toEqual([]);
      expect(series).toHaveLength(1);
      expect(series[0]).toMatchObject({ kind: 'counters', metric: 'x_seconds', labels: { run_id: 'a' } });
      expect(series[0]).toMatchObject({ bounds: [1, 2, Infinity], times: [1000, 2000], gridChangedMs: null });
      expect([row(series[0], 0), row(series[0], 1)]).toEqual([
        [0, 3, 3],
        [0, 4, 4],
      ]);
    });

    test('where Prometheus stores first classic, then native histograms, the buckets have changed', () => {
      const classic = bucketFrames({
        labels: { __name__: 'x_seconds_bucket', run_id: 'a' },
        buckets: { '1': [0, 1], '+Inf': [1, 2] },
      });
      const { series } = read(...classic, native('yMin', 3));
      expect(series.map(({ times, gridChangedMs }) => [times[0], gridChangedMs])).toEqual([
        [3000, 3000],
        [1000, null],
      ]);
    });
  });

  test('whole numbers of a query without rate() are counters; added up they are refused', () => {
    const rows: Array<[number, number, number, number]> = [
      [1, 1, 2, 3],
      [2, 1, 2, 5],
    ];
    expect(cells(rows, 'x_seconds{run_id="a"}').series[0]).toMatchObject({ kind: 'counters', trueCounts: true });
    expect(cells(rows, 'sum(x_seconds)').problems[0]?.title).toContain('sums counters');
    expect(cells(rows, 'sum(rate(x_seconds[1m]))').series[0]).toMatchObject({ kind: 'rates' });
  });
});

describe('series beside the buckets', () => {
  const counters = bucketFrames({ labels: { ...COUNTER, run_id: 'a' }, buckets: { '1': [1, 2], '+Inf': [1, 3] } });
  const gauge = (name: string, labels: Record<string, string>, values: number[], refId = 'B') =>
    toDataFrame({
      refId,
      fields: [
        {
          name: 'Time',
          type: FieldType.time,
          config: { interval: 1000 },
          values: values.map((_, i) => (i + 1) * 1000),
        },
        { name: 'Value', type: FieldType.number, labels: { __name__: name, ...labels }, values },
      ],
    });

  test('_sum of the same labels belongs to the histogram, _count is not drawn', () => {
    const frames = [...counters, gauge('x_sum', { run_id: 'a' }, [0.5, 4]), gauge('x_count', { run_id: 'a' }, [1, 3])];
    const { series, lines, problems } = readFrames(frames, new Map());
    expect([...(series[0]?.sums ?? [])]).toEqual([0.5, 4]);
    expect(lines).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('_sum of other labels does not', () => {
    const { series } = readFrames([...counters, gauge('x_sum', { run_id: 'b' }, [0.5, 4])], new Map());
    expect(series[0]?.sums).toBeNull();
  });

  test('exact percentiles of llmbench and quantiles of a summary are lines', () => {
    const frames = [
      gauge('llmbench_result_seconds', { stat: 'p99_9' }, [2, 2]),
      gauge('go_gc_duration_seconds', { quantile: '0.5' }, [1, 1], 'C'),
    ];
    const { lines, problems } = readFrames(frames, new Map());
    expect(lines.map(({ quantile, exact }) => [quantile, exact])).toEqual([
      [0.999, true],
      [0.5, false],
    ]);
    expect(problems).toEqual([]);
  });

  test('alone, a line that is no percentile is not drawn', () => {
    const { lines, problems } = readFrames([gauge('up', {}, [1, 1])], new Map());
    expect(lines).toEqual([]);
    expect(problems).toEqual([expect.objectContaining({ refId: 'B', title: expect.stringContaining('"le"') })]);
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
    expect(kindOf({}, 'sum by (le) (x_bucket)')).toMatch(/sums counters/);
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

describe('histograms with different bounds that are added', () => {
  const refused = {
    series: [],
    problems: [expect.objectContaining({ title: expect.stringMatching(/counts decrease/) })],
  };

  test('are refused, whichever way the data source delivers them', () => {
    // 10 and 4 requests per second, of a server with the bound 0.1 and one with 0.25.
    const buckets = { '0.1': [9, 9], '0.25': [3, 3], '1': [14, 14], '+Inf': [14, 14] };
    expect(readFrames(bucketFrames({ buckets }), new Map())).toMatchObject(refused);
    const missing = { ...buckets, '0.5': [NaN, 14] };
    expect(readFrames(bucketFrames({ buckets: missing }), new Map()).problems).toMatchObject(refused.problems);
    const table = panelData('instant-table').series;
    table[0]?.fields.find(({ name }) => name === 'Value')?.values.splice(0, 3, 30, 20, 250);
    expect(readFrames(table, new Map())).toMatchObject(refused);
    const heatmap = panelData('classic-heatmap').series;
    const third = heatmap[0]?.fields.filter(({ type }) => type === FieldType.number).slice(2, 3) ?? [];
    for (const { values } of third) {
      values.fill(-20);
    }
    expect(third).toHaveLength(1);
    expect(readFrames(heatmap, new Map())).toMatchObject(refused);
  });

  test('a single time is not refused: a scrape may come between two increments', () => {
    const buckets = { '0.1': [1, 9, 1], '0.25': [3, 3, 3], '+Inf': [4, 14, 4] };
    expect(readFrames(bucketFrames({ buckets }), new Map()).problems).toEqual([]);
  });

  test('the rounding of rates is not refused', () => {
    const buckets = { '0.1': [1 / 3], '0.25': [1 / 3 - 1e-15], '+Inf': [1 / 3] };
    expect(readFrames(bucketFrames({ buckets }), new Map()).problems).toEqual([]);
  });
});

describe('unusual answers', () => {
  test('no frames: neither series nor problems', () => {
    expect(readFrames([], new Map())).toEqual({ series: [], lines: [], problems: [] });
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
    expect(series[1]?.times).toEqual([3000, 4000]);
    expect([row(series[1], 0), row(series[1], 1)]).toEqual([
      [2, 3],
      [3, 4],
    ]);
    expect(series.map(({ gridChangedMs }) => gridChangedMs)).toEqual([null, 3000]);
  });

  test('several queries with the same labels stay apart', () => {
    const buckets = { '1': [1, 2], '+Inf': [1, 3] };
    const frames = ['A', 'B'].flatMap((refId) => bucketFrames({ refId, labels: COUNTER, buckets }));
    expect(readFrames(frames, new Map()).series.map(({ refId }) => refId)).toEqual(['A', 'B']);
  });
});

test("the panel's query text is used where the data source does not report the executed query", () => {
  const targets = [{ refId: 'A', expr: 'sum by (le) (x_bucket)' }];
  expect(queryExpressions([], targets).get('A')).toBe('sum by (le) (x_bucket)');
  const frames = bucketFrames({ buckets: { '+Inf': [1] }, expression: 'x_bucket{a="b"}' });
  expect(queryExpressions(frames, targets).get('A')).toBe('x_bucket{a="b"}');
});
