import { expect, test } from '@jest/globals';
import { labelPairs, type SeriesLayout } from '../remote-write/pushed-series.ts';
import { OpenMetricsPages, PAGE_MS } from './openmetrics-pages.ts';

/** 2026-11-21T22:00:00Z, a multiple of two hours. */
const TEN_PM = Date.UTC(2026, 10, 21, 22);

const layout: SeriesLayout = {
  families: [
    { name: 'a_total', type: 'counter', help: 'Says "a"\nand \\.' },
    { name: 'b_seconds', type: 'histogram', help: 'b' },
    { name: 'c', type: 'untyped', help: 'c' },
  ],
  series: [
    { family: 0, labels: labelPairs('a_total', { model: 'x"} 1\ny\\' }) },
    { family: 1, labels: labelPairs('b_seconds_bucket', { le: '0.5' }) },
    { family: 1, labels: labelPairs('b_seconds_bucket', { le: '+Inf' }) },
    { family: 1, labels: labelPairs('b_seconds_sum', {}) },
    { family: 1, labels: labelPairs('b_seconds_count', {}) },
    { family: 2, labels: labelPairs('c', {}) },
  ],
  nativeSeries: [],
  created_ms: null,
};

const point = (time_ms: number, values: number[]) => ({ time_ms, values, native: [] });

test('pages are aligned to two hours, each family once, the points of a metric together', () => {
  const pages = new OpenMetricsPages();
  pages.add({
    layout,
    points: [
      point(TEN_PM - 1, [0, 0, 0, 0, 0, Infinity]),
      point(TEN_PM, [1, 1, 2, 1e-7, 2, NaN]),
      point(TEN_PM + 1500, [2, 1, 3, 0.25, 3, -Infinity]),
      { time_ms: TEN_PM + 9000, values: null, native: null },
    ],
  });
  expect(pages.takeUntil(TEN_PM - 1)).toEqual([]);
  const head = String.raw`# HELP a Says \"a\"\nand \\.
# TYPE a counter
`;
  const model = String.raw`model="x\"} 1\ny\\"`;
  const seconds = TEN_PM / 1000;
  expect(pages.takeUntil(TEN_PM)).toEqual([
    {
      start_ms: TEN_PM - PAGE_MS,
      text: `${head}a_total{${model}} 0 ${seconds - 1}.999
# HELP b_seconds b
# TYPE b_seconds histogram
b_seconds_bucket{le="0.5"} 0 ${seconds - 1}.999
b_seconds_bucket{le="+Inf"} 0 ${seconds - 1}.999
b_seconds_sum 0 ${seconds - 1}.999
b_seconds_count 0 ${seconds - 1}.999
# HELP c c
# TYPE c unknown
c +Inf ${seconds - 1}.999
# EOF
`,
    },
  ]);
  expect(pages.takeUntil(Infinity)).toEqual([
    {
      start_ms: TEN_PM,
      text: `${head}a_total{${model}} 1 ${seconds}.000
a_total{${model}} 2 ${seconds + 1}.500
# HELP b_seconds b
# TYPE b_seconds histogram
b_seconds_bucket{le="0.5"} 1 ${seconds}.000
b_seconds_bucket{le="+Inf"} 2 ${seconds}.000
b_seconds_sum 1e-7 ${seconds}.000
b_seconds_count 2 ${seconds}.000
b_seconds_bucket{le="0.5"} 1 ${seconds + 1}.500
b_seconds_bucket{le="+Inf"} 3 ${seconds + 1}.500
b_seconds_sum 0.25 ${seconds + 1}.500
b_seconds_count 3 ${seconds + 1}.500
# HELP c c
# TYPE c unknown
c NaN ${seconds}.000
c -Inf ${seconds + 1}.500
# EOF
`,
    },
  ]);
  expect(pages.takeUntil(Infinity)).toEqual([]);
});

test('without a length everything is one page', () => {
  const pages = new OpenMetricsPages(Infinity);
  pages.add({ layout, points: [point(0, [0, 0, 0, 0, 0, 0]), point(9 * PAGE_MS, [0, 0, 0, 0, 0, 0])] });
  expect(pages.takeUntil(Infinity)).toHaveLength(1);
});
