import { expect, test } from '@jest/globals';

import { Family } from './family.ts';
import { pythonMultiprocessPage, pythonPage } from './python-page.ts';
import { Histogram, Scalar, Summary } from './series.ts';

const CREATED = 1700000000.5;

// The expected text is what prometheus_client 0.26 `generate_latest` writes for the same families.
test('a counter, with its creation time as a family of its own', () => {
  const counter = new Family({ name: 'a_total', help: 'Two\nlines \\' }, 'counter', () => new Scalar(CREATED));
  counter.series({ z: 'x"y', b: 'back\\slash\nline' }).add(2);
  expect(pythonPage([counter])).toBe(
    [
      '# HELP a_total Two\\nlines \\\\',
      '# TYPE a_total counter',
      'a_total{b="back\\\\slash\\nline",z="x\\"y"} 2.0',
      '# HELP a_created Two\\nlines \\\\',
      '# TYPE a_created gauge',
      'a_created{b="back\\\\slash\\nline",z="x\\"y"} 1.7000000005e+09',
      '',
    ].join('\n'),
  );
});

test('a histogram: an observation on a bound belongs below it', () => {
  const family = new Family({ name: 'h_total', help: 'H' }, 'histogram', () => new Histogram([0.5, 1, 1e6], CREATED));
  for (const value of [0.5, 0.6, 1, 2e6]) family.series({ m: 'x' }).observe(value);
  expect(pythonPage([family])).toBe(
    [
      '# HELP h_total H',
      '# TYPE h_total histogram',
      'h_total_bucket{le="0.5",m="x"} 1.0',
      'h_total_bucket{le="1.0",m="x"} 3.0',
      'h_total_bucket{le="1e+06",m="x"} 3.0',
      'h_total_bucket{le="+Inf",m="x"} 4.0',
      'h_total_count{m="x"} 4.0',
      'h_total_sum{m="x"} 2.0000021e+06',
      '# HELP h_total_created H',
      '# TYPE h_total_created gauge',
      'h_total_created{m="x"} 1.7000000005e+09',
      '',
    ].join('\n'),
  );
});

test('a gauge and a summary; a labeled family without series has its header only', () => {
  const gauge = new Family({ name: 'g', help: 'G' }, 'gauge', () => new Scalar(CREATED));
  gauge.series().value = 1.5;
  const summary = new Family({ name: 's', help: 'S ' }, 'summary', () => new Summary(CREATED));
  summary.series().observe(3);
  const empty = new Family({ name: 'e_total', help: 'E' }, 'counter', () => new Scalar(CREATED));
  expect(pythonPage([gauge, summary, empty])).toBe(
    [
      '# HELP g G',
      '# TYPE g gauge',
      'g 1.5',
      '# HELP s S ',
      '# TYPE s summary',
      's_count 1.0',
      's_sum 3.0',
      '# HELP s_created S ',
      '# TYPE s_created gauge',
      's_created 1.7000000005e+09',
      '# HELP e_total E',
      '# TYPE e_total counter',
      '',
    ].join('\n'),
  );
});

// The form of the pages that SGLang 0.5.23 and trtllm-serve serve.
test('in multiprocess mode a histogram begins with its sum, and a family without series is not there', () => {
  const family = new Family({ name: 'h', help: 'H' }, 'histogram', () => new Histogram([1], null));
  family.series({ m: 'x' }).observe(0.5);
  const empty = new Family({ name: 'e_total', help: 'E' }, 'counter', () => new Scalar(null));
  expect(pythonMultiprocessPage([empty, family])).toBe(
    [
      '# HELP h H',
      '# TYPE h histogram',
      'h_sum{m="x"} 0.5',
      'h_bucket{le="1.0",m="x"} 1.0',
      'h_bucket{le="+Inf",m="x"} 1.0',
      'h_count{m="x"} 1.0',
      '',
    ].join('\n'),
  );
});
