import { expect, test } from '@jest/globals';

import { Family } from './family.ts';
import { rustNumber, rustPage } from './rust-page.ts';
import { Histogram, Scalar } from './series.ts';

// Left: what `format!("{}", value)` of Rust gives for the same f64.
test.each([
  ['0', 0],
  ['300', 300],
  ['0.03277653', 0.03277653],
  ['178.31094317742412', 178.31094317742412],
  ['0.0000001', 1e-7],
  ['0.00000012345', 1.2345e-7],
  ['1000000000000000000000', 1e21],
  ['123000000000000000000000', 1.23e23],
  ['-0.00000025', -2.5e-7],
  ['NaN', NaN],
  ['+Inf', Infinity],
])('%s', (text, value) => {
  expect(rustNumber(value)).toBe(text);
});

// The form of the pages that smg 1.13.0 serves.
test('labels in the order given, sum before count, an empty line after each family, none without series', () => {
  const counter = new Family({ name: 'a_total', help: 'A' }, 'counter', () => new Scalar(null));
  counter.series({ z: '1', b: '' }).add(2);
  const histogram = new Family({ name: 'h', help: 'H' }, 'histogram', () => new Histogram([0.5, 1], null));
  histogram.series().observe(0.75);
  const empty = new Family({ name: 'e', help: 'E' }, 'gauge', () => new Scalar(null));
  expect(rustPage([counter, empty, histogram])).toBe(
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
