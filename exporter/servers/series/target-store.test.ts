import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createScrapeParser } from '../../../core/exposition/index.ts';
import { find, gained, whole } from '../testing/find-series.ts';
import { pagesOf, replay } from '../testing/replay.ts';
import { HistogramSeries, ScalarSeries } from './series.ts';
import { seriesStatistics, windowOf } from './statistics.ts';
import type { HistogramStatistics } from '../../../core/run/servers-file.ts';
import { TargetStore, type StoreLimits } from './target-store.ts';

const counter = (value: number, name = 'x_total'): string => `# TYPE ${name} counter\n${name} ${value}`;
const histogram = (...counts: [number, number, number, number]): string => {
  const [a, b, c, sum] = counts;
  return `# TYPE h histogram\nh_bucket{le="1"} ${a}\nh_bucket{le="2"} ${b}\nh_bucket{le="+Inf"} ${c}\nh_sum ${sum}\nh_count ${c}`;
};

describe('increase of a counter', () => {
  test.each([
    ['a plain increase', [counter(5), counter(7), counter(12)], 7],
    ['nothing', [counter(5), counter(5)], 0],
    ['a reset counts from 0', [counter(100), counter(150), counter(30), counter(70)], 120],
    ['a series born on a known target counts from 0', ['up 1', counter(8), counter(9)], 9],
    ['a gap: the difference of the values around it', [counter(5), null, null, counter(9)], 4],
    ['a restart during a gap', [counter(5), null, counter(3)], 3],
    ['a value missing from one page belongs to a new process', [counter(5), 'up 1', counter(9)], 9],
    ['NaN and infinity are not values', [counter(5), counter(NaN), counter(Infinity), counter(9)], 4],
  ])('%s', (_name, pages, expected) => {
    expect(gained(replay(pagesOf(...pages)), 'x_total')).toBe(expected);
  });

  test.each([
    ['it ends in NaN', [counter(5), counter(9), counter(NaN)], null],
    ['it ends in infinity', [counter(5), counter(9), counter(Infinity)], null],
    ['it ends in several of them', [counter(5), counter(Infinity), counter(-Infinity), counter(NaN)], null],
    ['it begins with NaN', [counter(NaN), counter(5), counter(9)], null],
    ['it begins with infinity', [counter(Infinity), counter(5), counter(9)], null],
    ['it never has a value', [counter(NaN), counter(NaN)], null],
    ['a reset during NaN', [counter(5), counter(NaN), counter(3), counter(4)], 4],
    [
      'a restart of the process during infinity',
      [
        `${counter(9)}\n${counter(9, 'y')}`,
        `${counter(Infinity)}\n${counter(2, 'y')}`,
        `${counter(12)}\n${counter(4, 'y')}`,
      ],
      null,
    ],
    [
      'a restart of a process with a start time during NaN',
      [
        `${counter(9)}\nprocess_start_time_seconds 100`,
        `${counter(NaN)}\nprocess_start_time_seconds 200`,
        `${counter(12)}\nprocess_start_time_seconds 200`,
      ],
      12,
    ],
    ['the value of before NaN again', [counter(5), counter(NaN), counter(5)], 0],
    ['a series born as NaN on a known target', ['up 1', counter(NaN), counter(9)], 9],
  ])('%s', (_name, pages, expected) => {
    const [found] = whole(replay(pagesOf(...pages)), 'x_total');
    expect(found).toMatchObject({ kind: 'counter', increase: expected });
  });

  test('slices that begin or end where it has no value are unknown, the others are not', () => {
    const store = replay(pagesOf(...[1, 3, NaN, 7, 12].map((value) => counter(value))));
    const [x] = find(store, 'x_total');
    const gains = [0, 1, 2, 3].map((second) => {
      const slice = { start_ns: second * 1e9, end_ns: (second + 1) * 1e9 };
      return x && seriesStatistics(x, store, windowOf(store, slice, slice.end_ns));
    });
    expect(gains).toMatchObject([2, null, null, 5].map((increase) => ({ increase })));
  });

  test('the increase of a single sample is unknown, not 0', () => {
    expect(whole(replay(pagesOf(counter(5))), 'x_total')).toMatchObject([{ increase: null, rate_per_second: null }]);
  });

  test('no values are counted', () => {
    const store = replay(pagesOf(counter(5), counter(NaN), counter(NaN), counter(9)));
    expect(find(store, 'x_total')[0]?.noValues).toBe(2);
  });
});

describe('a target that is first read within the window', () => {
  const lateBy10 = (start: number, ...values: number[]): TargetStore => {
    const pages = values.map((value, i) => ({
      unixSeconds: 10 + i,
      text: `process_start_time_seconds ${start}\n${counter(value)}\n# TYPE w counter\nw{worker_id="1"} ${value}\n`,
    }));
    return replay([{ unixSeconds: 0, text: null }, ...pages]);
  };

  test('counts from 0 if its process started in the window, also with one page', () => {
    expect(whole(lateBy10(4, 3, 9), 'x_total')).toMatchObject([{ increase: 9 }]);
    expect(whole(lateBy10(4, 3), 'x_total')).toMatchObject([{ increase: 3 }]);
  });

  test('counts from its first page if the process is older, and for another process on its page', () => {
    expect(whole(lateBy10(-4, 3, 9), 'x_total')).toMatchObject([{ increase: 6 }]);
    expect(whole(lateBy10(4, 3, 9), 'w')).toMatchObject([{ increase: 6 }]);
  });
});

describe('a restart of the process', () => {
  const page = (start: number, x: number, y: number): string =>
    `process_start_time_seconds ${start}\n${counter(x)}\n${counter(y, 'y_total')}`;

  test('is detected by its start time, also for counters that have passed their old value', () => {
    const store = replay(pagesOf(page(100, 10, 50), page(100, 12, 60), page(200, 15, 3)));
    expect(store.restarts).toEqual([2]);
    expect(gained(store, 'x_total')).toBe(2 + 15);
    expect(gained(store, 'y_total')).toBe(10 + 3);
  });

  test('is detected without a start time when most series decrease', () => {
    const many = (a: number, b: number, c: number): string =>
      [counter(a, 'a_total'), counter(b, 'b_total'), counter(c, 'c_total')].join('\n');
    const store = replay(pagesOf(many(10, 20, 5), many(2, 3, 9)));
    expect(store.restarts).toEqual([1]);
    expect(gained(store, 'c_total')).toBe(9);
  });

  test('is not inferred from one decreasing counter in a process with the same start time: only that one was reset', () => {
    const store = replay(pagesOf(page(100, 10, 50), page(100, 4, 50)));
    expect(store.restarts).toEqual([]);
    expect(gained(store, 'x_total')).toBe(4);
    expect(gained(store, 'y_total')).toBe(0);
  });

  test('without a start time, one decreasing counter makes the continuing ones unknown', () => {
    const store = replay(
      pagesOf(`${counter(10)}\n${counter(50, 'y_total')}`, `${counter(4)}\n${counter(50, 'y_total')}`),
    );
    expect({ restarts: store.restarts, unclear: store.unclear }).toEqual({ restarts: [], unclear: [1] });
    expect(gained(store, 'x_total')).toBe(4);
    expect(whole(store, 'y_total')).toMatchObject([{ increase: null }]);
  });

  test('one decreasing counter among many was reset alone', () => {
    const others = (n: number): string => Array.from({ length: 20 }, (_, i) => counter(n, `c${i}_total`)).join('\n');
    const store = replay(pagesOf(`${counter(10)}\n${others(50)}`, `${counter(4)}\n${others(60)}`));
    expect({ restarts: store.restarts, unclear: store.unclear }).toEqual({ restarts: [], unclear: [] });
    expect(gained(store, 'x_total')).toBe(4);
    expect(gained(store, 'c7_total')).toBe(10);
  });

  test('a series that the new process exposes later counts from 0', () => {
    const store = replay(pagesOf(page(100, 10, 50), 'process_start_time_seconds 200', page(200, 4, 60)));
    expect(gained(store, 'x_total')).toBe(4);
    expect(gained(store, 'y_total')).toBe(60);
  });
});

describe('a histogram', () => {
  test('is reset as a whole when any bucket decreases', () => {
    const store = replay(pagesOf(histogram(5, 8, 10, 12), histogram(1, 9, 12, 14)));
    expect(whole(store, 'h')).toMatchObject([
      {
        count: 12,
        sum: 14,
        resets: 1,
        buckets: [
          ['1', 1],
          ['2', 9],
          ['+Inf', 12],
        ],
      },
    ]);
  });

  test('with other buckets is another series, and its increase uses the common bounds', () => {
    const other = '# TYPE h histogram\nh_bucket{le="3"} 4\nh_bucket{le="+Inf"} 6\nh_sum 8\nh_count 6';
    const store = replay(pagesOf(histogram(1, 2, 3, 4), histogram(2, 4, 6, 8), other));
    expect(whole(store, 'h')).toMatchObject([
      {
        count: 3,
        buckets: [
          ['1', 1],
          ['2', 2],
          ['+Inf', 3],
        ],
      },
      {
        count: 0,
        buckets: [['+Inf', 0]],
      },
    ]);
  });

  test('with a sum and a count only is a histogram without buckets', () => {
    const page = (n: number): string => `# TYPE h histogram\nh_sum ${n / 2}\nh_count ${n}`;
    expect(whole(replay(pagesOf(page(2), page(12))), 'h')).toMatchObject([
      { kind: 'histogram', count: 10, sum: 5, mean: 0.5, percentiles: null, buckets: [] },
    ]);
  });

  test('whose cumulative counts decrease is marked: percentiles use repaired counts', () => {
    const [good] = whole(replay(pagesOf(histogram(0, 0, 0, 0), histogram(3, 5, 9, 9))), 'h');
    expect(good).toMatchObject({ non_monotonic_buckets: false });
    const [bad] = whole(replay(pagesOf(histogram(0, 0, 0, 0), histogram(5, 3, 9, 9))), 'h');
    expect(bad).toMatchObject({ non_monotonic_buckets: true, percentiles: { p25: { bounds_by_sum: null } } });
  });

  test('has bounds by sum that contain small values after large ones: a sum is rounded', () => {
    const values = fc.array(fc.constantFrom(0, 1e-6, 3e-7, 0.25), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(values, fc.double({ min: 1000, max: 1e6, noNaN: true }), (added, before) => {
        const page = (all: readonly number[]): string => {
          const sum = all.reduce((total, value) => total + value, before);
          const low = all.filter((value) => value <= 0.1).length;
          return histogram(low, 100 + all.length, 100 + all.length, sum);
        };
        const [found] = whole(replay(pagesOf(page([]), page(added))), 'h');
        const { bounds_by_sum } = (found as HistogramStatistics).percentiles?.p99 ?? { bounds_by_sum: null };
        const largest = Math.max(...added);
        const smallest = Math.min(...added);
        if (bounds_by_sum !== null) {
          expect(bounds_by_sum[1] ?? Infinity).toBeGreaterThanOrEqual(smallest + (largest - smallest) * 0.9);
          expect(bounds_by_sum[0] ?? 0).toBeLessThanOrEqual(largest);
        }
      }),
    );
  });

  test('without a TYPE is recognized by its suffixes', () => {
    const untyped = (...counts: [number, number, number, number]): string =>
      histogram(...counts).replace(/# TYPE.*\n/, '');
    const store = replay(pagesOf(untyped(1, 2, 3, 4), untyped(2, 4, 6, 8)));
    expect(whole(store, 'h')).toMatchObject([{ kind: 'histogram', count: 3, sum: 4 }]);
    expect([...store.untypedHistograms]).toEqual(['h']);
  });

  test('with only buckets and no TYPE keeps every bucket', () => {
    const page = 'h_bucket{le="1",a="b"} 1\nh_bucket{le="2",a="b"} 2\nh_bucket{le="+Inf",a="b"} 3';
    const store = replay(pagesOf(page, page));
    expect(find(store, 'h_bucket').map(({ labels }) => labels)).toEqual(
      ['1', '2', '+Inf'].map((le) => ({ a: 'b', le })),
    );
  });

  test('without a +Inf bucket has no percentiles', () => {
    const cut = (n: number): string => `# TYPE h histogram\nh_bucket{le="1"} ${n}\nh_sum ${n}\nh_count ${n}`;
    const [statistics] = whole(replay(pagesOf(cut(1), cut(5))), 'h');
    expect(statistics).toMatchObject({ count: 4, percentiles: { p50: { estimate: null, bounds: null } } });
  });

  const NOTHING = { count: null, sum: null, mean: null, percentiles: null, buckets: null };
  test.each<[string, [number, number, number, number][], object]>([
    [
      'a bucket ends in NaN',
      [
        [1, 2, 3, 4],
        [2, NaN, 4, 5],
      ],
      NOTHING,
    ],
    [
      'the last bucket ends in infinity',
      [
        [1, 2, 3, 4],
        [2, 3, Infinity, 5],
      ],
      NOTHING,
    ],
    [
      'a bucket begins as NaN',
      [
        [1, NaN, 3, 4],
        [2, 3, 4, 5],
        [3, 4, 5, 6],
      ],
      NOTHING,
    ],
    [
      'the sum ends in NaN',
      [
        [1, 2, 3, 4],
        [2, 3, 4, NaN],
      ],
      { count: 1, sum: null, mean: null },
    ],
    [
      'the sum ends in infinity',
      [
        [1, 2, 3, 4],
        [2, 3, 4, Infinity],
      ],
      { count: 1, sum: null, mean: null },
    ],
    [
      'the sum begins as infinity',
      [
        [1, 2, 3, Infinity],
        [2, 3, 4, 5],
      ],
      { count: 1, sum: null, mean: null },
    ],
    [
      'the sum is NaN in between',
      [
        [1, 2, 3, 4],
        [2, 3, 4, NaN],
        [3, 4, 5, 9],
      ],
      { count: 2, sum: 5, mean: 2.5 },
    ],
    [
      'a reset while a bucket is NaN',
      [
        [5, 8, 10, 12],
        [NaN, 8, 10, 12],
        [1, 2, 3, 4],
      ],
      { count: 3, sum: 4, resets: 1 },
    ],
  ])('of which %s', (_name, pages, expected) => {
    expect(whole(replay(pagesOf(...pages.map((each) => histogram(...each)))), 'h')).toMatchObject([expected]);
  });

  test('whose count is no number has that of its last bucket, and without one no value', () => {
    const counted = (count: number, last: string): string =>
      histogram(1, 2, 3, 4).replace('h_count 3', `h_count ${count}`).replace('h_bucket{le="+Inf"} 3', last);
    const pages = (last: (n: number) => string): string[] => [
      counted(3, last(3)),
      counted(Infinity, last(4)),
      counted(5, last(5)),
    ];
    const complete = replay(pagesOf(...pages((n) => `h_bucket{le="+Inf"} ${n}`)));
    expect(whole(complete, 'h')).toMatchObject([{ count: 2, resets: 0 }]);
    expect(complete.restarts).toEqual([]);
    const cut = replay(pagesOf(...pages(() => '').slice(0, 2)));
    expect(whole(cut, 'h')).toMatchObject([{ count: null }]);
    expect(whole(replay(pagesOf(...pages(() => ''))), 'h')).toMatchObject([{ count: 2, resets: 0 }]);
  });

  test('with a bucket that is not a number has no value in that scrape', () => {
    const store = replay(pagesOf(histogram(1, 2, 3, 4), histogram(NaN, 2, 3, 4), histogram(2, 3, 4, 5)));
    expect(find(store, 'h')[0]?.noValues).toBe(1);
    expect(whole(store, 'h')).toMatchObject([{ count: 1 }]);
  });
});

test('OpenMetrics: the same series as in the text format, start times kept apart', () => {
  const openMetrics = `# TYPE x counter\nx_total{a="b"} 3\nx_created{a="b"} 1000\n# TYPE v info\nv_info{version="1"} 1\n# TYPE h histogram\nh_bucket{le="1.0"} 1\nh_bucket{le="+Inf"} 2\nh_count 2\nh_sum 3\nh_created 1000\n# EOF\n`;
  const text = `# TYPE x_total counter\nx_total{a="b"} 3\n# TYPE v_info gauge\nv_info{version="1"} 1\n${histogram(1, 2, 2, 3).replace(/h_bucket{le="2"}.*\n/, '')}`;
  const store = new TargetStore();
  const times = { sent_ns: 0, at_ns: 0, duration_ns: 0, interval_ns: 1e9, edge: false };
  const page = createScrapeParser().parse(new TextEncoder().encode(openMetrics), 'application/openmetrics-text');
  expect(store.recordPage(times, page, false)).toBe(true);
  const names = (of: TargetStore): string[] => of.series.map(({ family }) => family.name).sort();
  expect(names(store)).toEqual(['h', 'v_info', 'x_total']);
  expect(names(store)).toEqual(names(replay(pagesOf(text))));
});

test('both spellings of a family are the same family', () => {
  const store = replay(pagesOf(counter(1, 'sglang:num_requests_total'), counter(4, 'sglang_num_requests_total')));
  expect(find(store, 'sglang:num_requests_total')).toHaveLength(1);
  expect(gained(store, 'sglang:num_requests_total')).toBe(3);
});

test('samples with underscores have the types that the comments state with colons (client_python issue 1177)', () => {
  const page = (tokens: number, running: number, sum: number): string =>
    [
      '# HELP sglang:generation_tokens Generated tokens.',
      '# TYPE sglang:generation_tokens counter',
      `sglang_generation_tokens_total{tp_rank="0"} ${tokens}`,
      '# TYPE sglang:num_running_reqs gauge',
      `sglang_num_running_reqs{tp_rank="0"} ${running}`,
      '# TYPE sglang:image_seconds summary',
      `sglang_image_seconds_sum ${sum}`,
      `sglang_image_seconds_count ${sum}`,
      '# EOF\n',
    ].join('\n');
  const store = replay(pagesOf(page(5, 2, 1), page(25, 0, 4)));
  expect(whole(store, 'sglang:generation_tokens_total')).toMatchObject([{ kind: 'counter', increase: 20 }]);
  expect(find(store, 'sglang:generation_tokens_total')[0]?.family.help).toBe('Generated tokens.');
  expect(whole(store, 'sglang:num_running_reqs')).toMatchObject([{ kind: 'gauge' }]);
  expect(whole(store, 'sglang:image_seconds_sum')).toMatchObject([{ kind: 'counter', increase: 3 }]);
});

test('the same labels in another order are one series, and so is a page in another order', () => {
  const store = replay(
    pagesOf(
      '# TYPE a counter\na{x="1",y="2"} 1\nb 1',
      '# TYPE a counter\nb 2\na{y="2",x="1"} 4',
      'b 3\n# TYPE a counter\na{x="1",y="2"} 5',
    ),
  );
  expect(store.series).toHaveLength(2);
  expect(gained(store, 'a')).toBe(4);
});

test('values whose type changes start a new series', () => {
  const store = replay(pagesOf('# TYPE h gauge\nh 1', histogram(1, 2, 3, 4)));
  expect(store.series.map((series) => series.constructor)).toEqual([ScalarSeries, HistogramSeries]);
});

test('duplicate samples of a page are counted', () => {
  const store = replay(pagesOf(`${counter(1)}\nx_total 2\nx_total 3`, `${counter(2)}\ny 1`));
  expect(store.duplicates).toEqual({ samples: 3, repeated: 2 });
  expect(gained(store, 'x_total')).toBe(1);
});

test('the mean of a gauge lies between its extremes: both include the value before the window', () => {
  const gauge = (value: number): string => `# TYPE g gauge\ng ${value}`;
  const store = replay(pagesOf(gauge(10), gauge(1), gauge(1)));
  const window = windowOf(store, { start_ns: 0.2e9, end_ns: 2e9 }, 2e9);
  const [g] = find(store, 'g').map((series) => seriesStatistics(series, store, window));
  expect(g).toMatchObject({ min: 1, max: 10, n: 2 });
  expect(g?.kind === 'gauge' && g.mean).toBeCloseTo((10 * 0.8 + 1) / 1.8, 12);
});

describe('memory is bounded', () => {
  const filled = (limits: StoreLimits, pages: readonly string[], edgeAt: number): TargetStore => {
    const store = new TargetStore(limits);
    const parser = createScrapeParser();
    pages.forEach((text, i) => {
      const times = { sent_ns: i * 1e9, at_ns: i * 1e9, duration_ns: 0, interval_ns: 1e9, edge: i === edgeAt };
      store.recordPage(times, parser.parse(new TextEncoder().encode(`${text}\n`), 'text/plain'), false);
    });
    return store;
  };

  test('series beyond the limit are omitted and counted once each', () => {
    const page = Array.from({ length: 5 }, (_, i) => `s${i} 1`).join('\n');
    const store = filled({ maxSeries: 3, maxValues: 100 }, [page, page, page], -1);
    expect(store.series).toHaveLength(3);
    expect(store.droppedSeries).toBe(2);
  });

  test('values beyond the limit are counted; the edge of the run is kept, so that increases stay exact', () => {
    const pages = Array.from({ length: 10 }, (_, i) => counter(i * i));
    const store = filled({ maxSeries: 10, maxValues: 3 }, pages, 9);
    expect(store.droppedSamples).toBe(6);
    expect(gained(store, 'x_total')).toBe(81);
  });
});
