import { expect, test } from '@jest/globals';

import { Family } from '../../metrics/family.ts';
import { Histogram, Scalar } from '../../metrics/series.ts';
import { writePage } from './write-page.ts';

// The form of the pages that smg 1.13.0 serves.
test('labels in the order given, sum before count, an empty line after each family, none without series', () => {
  const counter = new Family({ name: 'a_total', help: 'A' }, 'counter', () => new Scalar(null));
  counter.series({ z: '1', b: '' }).add(2);
  const histogram = new Family({ name: 'h', help: 'H' }, 'histogram', () => new Histogram([0.5, 1], null));
  histogram.series().observe(0.75);
  const empty = new Family({ name: 'e', help: 'E' }, 'gauge', () => new Scalar(null));
  expect(writePage([counter, empty, histogram])).toBe(
    [
      '# HELP a_total A',
      '# TYPE a_total counter',
      'a_total{z="1",b=""} 2',
      '',
      '# HELP h H',
      '# TYPE h histogram',
      'h_bucket{le="0.5"} 0',
      'h_bucket{le="1"} 1',
      'h_bucket{le="+Inf"} 1',
      'h_sum 0.75',
      'h_count 1',
      '',
      '',
    ].join('\n'),
  );
});
