import { expect, test } from '@jest/globals';

import { Family } from './family.ts';
import { rustPage } from './rust-page.ts';
import { Histogram, Scalar } from './series.ts';

// The form of the pages that Dynamo 1.4.2 serves.
test('families by name, series by their labels, sum before count, none without series', () => {
  const counter = new Family({ name: 'b_total', help: 'Two\nlines' }, 'counter', () => new Scalar(1.5));
  counter.series({ z: '1', a: 'y' }).add(2);
  counter.series({ z: '1', a: 'x"' }).add(0.5);
  const histogram = new Family({ name: 'a', help: 'A' }, 'histogram', () => new Histogram([0.00001, 1], null));
  histogram.series({ m: 'm' }).observe(0.75);
  const empty = new Family({ name: 'e', help: 'E' }, 'gauge', () => new Scalar(null));
  expect(rustPage([counter, empty, histogram])).toBe(
    [
      '# HELP a A',
      '# TYPE a histogram',
      'a_bucket{m="m",le="0.00001"} 0',
      'a_bucket{m="m",le="1"} 1',
      'a_bucket{m="m",le="+Inf"} 1',
      'a_sum{m="m"} 0.75',
      'a_count{m="m"} 1',
      '# HELP b_total Two\\nlines',
      '# TYPE b_total counter',
      'b_total{a="x\\"",z="1"} 0.5',
      'b_total{a="y",z="1"} 2',
      '',
    ].join('\n'),
  );
});
