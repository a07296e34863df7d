import { describe, expect, test } from '@jest/globals';

import { Family, Histogram, Scalar, Summary, WindowedSummary } from './family.ts';
import { FORMATS, cppNumber, plainNumber, pythonNumber, writePage } from './write-page.ts';

describe('numbers of Python', () => {
  // Left: floatToGoString of prometheus_client 0.26 for the same double.
  test.each([
    ['0.0', 0],
    ['-0.0', -0],
    ['1.0', 1],
    ['-3.5', -3.5],
    ['0.005', 0.005],
    ['0.0001', 0.0001],
    ['5e-05', 0.00005],
    ['1.5e-07', 1.5e-7],
    ['0.1', 0.1],
    ['100000.0', 100000],
    ['999999.5', 999999.5],
    ['1e+06', 1000000],
    ['1.2345675e+06', 1234567.5],
    ['4.860116992e+09', 4860116992],
    ['1.7952799391464283e+09', 1795279939.1464283],
    ['2e+10', 2e10],
    ['1.234567890125e+11', 123456789012.5],
    ['1e+16', 1e16],
    ['-1000000.0', -1000000],
    ['+Inf', Infinity],
    ['-Inf', -Infinity],
    ['NaN', NaN],
  ])('%s', (text, value) => {
    expect(pythonNumber(value)).toBe(text);
  });
});

describe('numbers of Rust', () => {
  // What `println!("{}", x)` prints of an f64.
  test.each([
    [0, '0'],
    [5, '5'],
    [0.00001, '0.00001'],
    [1.5e-7, '0.00000015'],
    [0.15000000000000002, '0.15000000000000002'],
    [430467.2100000001, '430467.2100000001'],
    [1e21, '1000000000000000000000'],
    [1.25e22, '12500000000000000000000'],
    [-2.5e-8, '-0.000000025'],
    [Infinity, '+Inf'],
    [NaN, 'NaN'],
  ])('%d', (value, text) => {
    expect(plainNumber(value)).toBe(text);
  });
});

describe('the Python client', () => {
  const CREATED = 1700000000.5;

  // The expected text is what prometheus_client 0.26 `generate_latest` writes for the same families.
  test('a counter, with its creation time as a family of its own', () => {
    const counter = new Family({ name: 'a_total', help: 'Two\nlines \\' }, 'counter', () => new Scalar(CREATED));
    counter.series({ z: 'x"y', b: 'back\\slash\nline' }).add(2);
    expect(writePage([counter], FORMATS.PYTHON)).toBe(
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
    expect(writePage([family], FORMATS.PYTHON)).toBe(
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
    expect(writePage([gauge, summary, empty], FORMATS.PYTHON)).toBe(
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
    expect(writePage([empty, family], FORMATS.PYTHON_MULTIPROCESS)).toBe(
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
});

describe('prometheus-cpp', () => {
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
    expect(writePage([counter, summary, histogram, empty], FORMATS.CPP)).toBe(
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
});

describe('the Rust crate prometheus', () => {
  // The form of the pages that Dynamo 1.4.2 serves.
  test('families by name, series by their labels, sum before count, none without series', () => {
    const counter = new Family({ name: 'b_total', help: 'Two\nlines' }, 'counter', () => new Scalar(1.5));
    counter.series({ z: '1', a: 'y' }).add(2);
    counter.series({ z: '1', a: 'x"' }).add(0.5);
    const histogram = new Family({ name: 'a', help: 'A' }, 'histogram', () => new Histogram([0.00001, 1], null));
    histogram.series({ m: 'm' }).observe(0.75);
    const empty = new Family({ name: 'e', help: 'E' }, 'gauge', () => new Scalar(null));
    expect(writePage([counter, empty, histogram], FORMATS.RUST)).toBe(
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
});

describe('the Rust exporter', () => {
  // The form of the pages that smg 1.13.0 serves.
  test('labels in the order given, sum before count, an empty line after each family, none without series', () => {
    const counter = new Family({ name: 'a_total', help: 'A' }, 'counter', () => new Scalar(null));
    counter.series({ z: '1', b: '' }).add(2);
    const histogram = new Family({ name: 'h', help: 'H' }, 'histogram', () => new Histogram([0.5, 1], null));
    histogram.series().observe(0.75);
    const empty = new Family({ name: 'e', help: 'E' }, 'gauge', () => new Scalar(null));
    expect(writePage([counter, empty, histogram], FORMATS.RUST_EXPORTER)).toBe(
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
});
