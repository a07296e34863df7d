import { describe, expect, test } from '@jest/globals';
import { createScrapeParser } from '../../core/exposition/index.ts';
import { find, gained, whole } from './testing/find-series.ts';
import { pagesOf, replay } from './testing/recorded-pages.ts';
import { HistogramSeries, ScalarSeries } from './series.ts';
import { TargetStore, type StoreLimits } from './target-store.ts';

const counter = (value: number, name = 'x_total'): string => `# TYPE ${name} counter\n${name} ${value}`;
const histogram = (...counts: [number, number, number, number]): string => {
  const [a, b, c, sum] = counts;
  return `# TYPE h histogram\nh_bucket{le="1"} ${a}\nh_bucket{le="2"} ${b}\nh_bucket{le="+Inf"} ${c}\nh_sum ${sum}\nh_count ${c}`;
};

describe('what a counter gained', () => {
  test.each([
    ['a plain rise', [counter(5), counter(7), counter(12)], 7],
    ['nothing', [counter(5), counter(5)], 0],
    ['a reset counts from 0', [counter(100), counter(150), counter(30), counter(70)], 120],
    ['a birth on a known target counts from 0', ['up 1', counter(8), counter(9)], 9],
    ['a gap: the difference of the values around it', [counter(5), null, null, counter(9)], 4],
    ['a restart during a gap', [counter(5), null, counter(3)], 3],
    ['a value that is missing from one page', [counter(5), 'up 1', counter(9)], 4],
    ['NaN and infinity are no values', [counter(5), counter(NaN), counter(Infinity), counter(9)], 4],
  ])('%s', (_name, pages, expected) => {
    expect(gained(replay(pagesOf(...pages)), 'x_total')).toBe(expected);
  });

  test('a single sample tells nothing, which is not 0', () => {
    expect(whole(replay(pagesOf(counter(5))), 'x_total')).toMatchObject([{ increase: null, rate_per_second: null }]);
  });

  test('no values are counted', () => {
    const store = replay(pagesOf(counter(5), counter(NaN), counter(NaN), counter(9)));
    expect(find(store, 'x_total')[0]?.noValues).toBe(2);
  });
});

describe('a restart of the process', () => {
  const page = (start: number, x: number, y: number): string =>
    `process_start_time_seconds ${start}\n${counter(x)}\n${counter(y, 'y_total')}`;

  test('is seen by its start time, also by counters that passed their old value since', () => {
    const store = replay(pagesOf(page(100, 10, 50), page(100, 12, 60), page(200, 15, 3)));
    expect(store.restarts).toEqual([2]);
    expect(gained(store, 'x_total')).toBe(2 + 15);
    expect(gained(store, 'y_total')).toBe(10 + 3);
  });

  test('is seen without one when more series fall than not', () => {
    const many = (a: number, b: number, c: number): string =>
      [counter(a, 'a_total'), counter(b, 'b_total'), counter(c, 'c_total')].join('\n');
    const store = replay(pagesOf(many(10, 20, 5), many(2, 3, 9)));
    expect(store.restarts).toEqual([1]);
    expect(gained(store, 'c_total')).toBe(9);
  });

  test('is not seen in one counter that falls while others go on: only that one began anew', () => {
    const store = replay(pagesOf(page(100, 10, 50), page(100, 4, 50)));
    const without = replay(
      pagesOf(`${counter(10)}\n${counter(50, 'y_total')}`, `${counter(4)}\n${counter(50, 'y_total')}`),
    );
    for (const each of [store, without]) {
      expect(each.restarts).toEqual([]);
      expect(gained(each, 'x_total')).toBe(4);
      expect(gained(each, 'y_total')).toBe(0);
    }
  });

  test('a series that the new process shows later counts from 0', () => {
    const store = replay(pagesOf(page(100, 10, 50), 'process_start_time_seconds 200', page(200, 4, 60)));
    expect(gained(store, 'x_total')).toBe(4);
    expect(gained(store, 'y_total')).toBe(60);
  });
});

describe('a histogram', () => {
  test('that falls in any bucket began anew as a whole', () => {
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

  test('with other buckets is another series, and never mixed', () => {
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
        count: 6,
        buckets: [
          ['3', 4],
          ['+Inf', 6],
        ],
      },
    ]);
  });

  test('without an infinite bucket has no percentiles', () => {
    const cut = (n: number): string => `# TYPE h histogram\nh_bucket{le="1"} ${n}\nh_sum ${n}\nh_count ${n}`;
    const [statistics] = whole(replay(pagesOf(cut(1), cut(5))), 'h');
    expect(statistics).toMatchObject({ count: 4, percentiles: { p50: { estimate: null, bounds: null } } });
  });

  test('with a bucket that is no number has no value in that scrape', () => {
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

test('both spellings of a family are one', () => {
  const store = replay(pagesOf(counter(1, 'sglang:num_requests_total'), counter(4, 'sglang_num_requests_total')));
  expect(find(store, 'sglang:num_requests_total')).toHaveLength(1);
  expect(gained(store, 'sglang:num_requests_total')).toBe(3);
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

test('values of one type that become another are series of their own', () => {
  const store = replay(pagesOf('# TYPE h gauge\nh 1', histogram(1, 2, 3, 4)));
  expect(store.series.map((series) => series.constructor)).toEqual([ScalarSeries, HistogramSeries]);
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

  test('series beyond the limit are left out and counted once each', () => {
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
