import { expect, test } from '@jest/globals';

import { cppNumber, cppPage } from './cpp-page.ts';
import { Family } from './family.ts';
import { Histogram, Scalar } from './series.ts';
import { WindowedSummary } from './windowed-summary.ts';

// What `printf("%.16g", x)` prints.
test.each([
  [0, '0'],
  [237, '237'],
  [25276502016, '25276502016'],
  [0.00885009765625, '0.00885009765625'],
  [0.1, '0.1'],
  [1 / 3, '0.3333333333333333'],
  [1e15, '1000000000000000'],
  [1e16, '1e+16'],
  [1.5e-7, '1.5e-07'],
  [0.0001, '0.0001'],
  [NaN, 'Nan'],
  [Infinity, '+Inf'],
])('%d', (value, text) => {
  expect(cppNumber(value)).toBe(text);
});

test('a page as prometheus-cpp writes it', () => {
  const labels = { version: '1', model: 'm' };
  const counter = new Family({ name: 'c', help: 'C' }, 'counter', () => new Scalar(null));
  counter.series(labels).add(2);
  const summary = new Family({ name: 's', help: 'S' }, 'summary', () => new WindowedSummary(() => 0));
  summary.series(labels);
  const histogram = new Family({ name: 'h', help: 'H' }, 'histogram', () => new Histogram([100, 500], null));
  histogram.series(labels).observe(300);
  const empty = new Family({ name: 'e', help: 'E' }, 'counter', () => new Scalar(null));
  expect(cppPage([counter, summary, histogram, empty])).toBe(
    [
      '# HELP c C',
      '# TYPE c counter',
      'c{model="m",version="1"} 2',
      '# HELP s S',
      '# TYPE s summary',
      's_count{model="m",version="1"} 0',
      's_sum{model="m",version="1"} 0',
      's{model="m",version="1",quantile="0.5"} Nan',
      's{model="m",version="1",quantile="0.9"} Nan',
      's{model="m",version="1",quantile="0.95"} Nan',
      's{model="m",version="1",quantile="0.99"} Nan',
      's{model="m",version="1",quantile="0.999"} Nan',
      '# HELP h H',
      '# TYPE h histogram',
      'h_count{model="m",version="1"} 1',
      'h_sum{model="m",version="1"} 300',
      'h_bucket{model="m",version="1",le="100"} 0',
      'h_bucket{model="m",version="1",le="500"} 1',
      'h_bucket{model="m",version="1",le="+Inf"} 1',
      '',
    ].join('\n'),
  );
});
