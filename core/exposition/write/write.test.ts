import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { Exposition, MetricType } from '../exposition.ts';
import { parseOpenMetrics, parseText } from '../parse.ts';
import { formatCanonicalNumber, formatNumber } from './format-number.ts';
import { writeOpenMetrics } from './write-openmetrics.ts';
import { writeText } from './write-text.ts';
import { ExpositionWriteError } from './writer-input.ts';
import type { FamilyInput, SampleInput } from './writer-input.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

// Go 1.26: strconv.FormatFloat(value, 'g', -1, 64).
test.each<[number, string]>([
  [0, '0'],
  [-0, '-0'],
  [1, '1'],
  [-2.5, '-2.5'],
  [999999, '999999'],
  [1000000, '1e+06'],
  [123456789, '1.23456789e+08'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [0.00012345, '0.00012345'],
  [1795280483.9517844, '1.7952804839517844e+09'],
  [5e-324, '5e-324'],
  [1.7976931348623157e308, '1.7976931348623157e+308'],
  [NaN, 'NaN'],
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
])('%p is written %s', (value, text) => {
  expect(formatNumber(value)).toBe(text);
});

// The examples of OpenMetrics 1.0, Canonical Numbers.
test.each<[number, string]>([
  [0, '0.0'],
  [1, '1.0'],
  [10, '10.0'],
  [100000, '100000.0'],
  [1e6, '1e+06'],
  [1e10, '1e+10'],
  [0.001, '0.001'],
  [0.0001, '0.0001'],
  [1e-5, '1e-05'],
  [1e-10, '1e-10'],
  [Infinity, '+Inf'],
])('the bound %p is written %s', (value, text) => {
  expect(formatCanonicalNumber(value)).toBe(text);
});

const FAMILIES: FamilyInput[] = [
  {
    name: 'requests_total',
    type: 'counter',
    help: 'All "requests"\nand \\ more',
    samples: [
      { labels: { path: 'x"} 1\nfake 1\n#\\' }, value: 3, exemplar: { labels: { id: 'a' }, value: 0.5 } },
      { suffix: '_created', labels: { path: 'x"} 1\nfake 1\n#\\' }, value: 1.5 },
    ],
  },
  {
    name: 'wait_seconds',
    type: 'histogram',
    unit: 'seconds',
    samples: [
      { suffix: '_bucket', labels: { le: '1' }, value: 2 },
      { suffix: '_bucket', labels: { le: 'inf' }, value: 4 },
      { suffix: '_count', value: 4 },
      { suffix: '_sum', value: 1e6 },
    ],
  },
  { name: 'build', type: 'info', samples: [{ labels: { version: '1' }, value: 1 }] },
  { name: 'depth', type: 'gauge', samples: [{ value: -1, timestampSeconds: 12.5 }] },
  { name: 'misc', type: 'unknown', samples: [] },
];

test('the text format', () => {
  expect(writeText(FAMILIES)).toBe(
    String.raw`# HELP requests_total All "requests"\nand \\ more
# TYPE requests_total counter
requests_total{path="x\"} 1\nfake 1\n#\\"} 3
# HELP requests_created All "requests"\nand \\ more
# TYPE requests_created gauge
requests_created{path="x\"} 1\nfake 1\n#\\"} 1.5
# TYPE wait_seconds histogram
wait_seconds_bucket{le="1.0"} 2
wait_seconds_bucket{le="+Inf"} 4
wait_seconds_count 4
wait_seconds_sum 1e+06
# TYPE build_info gauge
build_info{version="1"} 1
# TYPE depth gauge
depth -1 12500
# TYPE misc untyped
`,
  );
});

test('OpenMetrics', () => {
  const page = writeOpenMetrics(FAMILIES);
  expect(page).toBe(
    String.raw`# TYPE requests counter
# HELP requests All \"requests\"\nand \\ more
requests_total{path="x\"} 1\nfake 1\n#\\"} 3 # {id="a"} 0.5
requests_created{path="x\"} 1\nfake 1\n#\\"} 1.5
# TYPE wait_seconds histogram
# UNIT wait_seconds seconds
wait_seconds_bucket{le="1.0"} 2
wait_seconds_bucket{le="+Inf"} 4
wait_seconds_count 4
wait_seconds_sum 1e+06
# TYPE build info
build_info{version="1"} 1
# TYPE depth gauge
depth -1 12.5
# TYPE misc unknown
# EOF
`,
  );
  expect(parseOpenMetrics(encode(page)).families).toHaveLength(5);
});

describe('what is refused', () => {
  const gauge = (sample: Partial<SampleInput>, name = 'a'): FamilyInput[] => [
    { name, type: 'gauge', samples: [{ value: 1, ...sample }] },
  ];
  test.each<[string, FamilyInput[]]>([
    ['a name with a dot', gauge({}, 'a.b')],
    ['an empty name', gauge({}, '')],
    ['a name with a line feed', gauge({}, 'a 1\nb')],
    ['a label name with a quote', gauge({ labels: { 'a"': 'x' } })],
    ['a reserved label name', gauge({ labels: { __name__: 'x' } })],
    ['__proto__', gauge({ labels: Object.fromEntries([['__proto__', 'x']]) })],
    ['a suffix that the type does not have', gauge({ suffix: '_sum' })],
    ['a bucket without le', [{ name: 'h', type: 'histogram', samples: [{ suffix: '_bucket', value: 1 }] }]],
    [
      'le that is no number',
      [{ name: 'h', type: 'histogram', samples: [{ suffix: '_bucket', labels: { le: 'x' }, value: 1 }] }],
    ],
    ['a sum with le', [{ name: 'h', type: 'histogram', samples: [{ suffix: '_sum', labels: { le: '1' }, value: 1 }] }]],
    ['a series twice', [{ name: 'a', type: 'gauge', samples: [{ value: 1 }, { value: 2 }] }]],
    ['a family twice', [...gauge({}), ...gauge({ labels: { b: 'c' } })]],
    ['an infinite time', gauge({ timestampSeconds: Infinity })],
  ])('%s', (_, families) => {
    expect(() => writeText(families)).toThrow(ExpositionWriteError);
    expect(() => writeOpenMetrics(families)).toThrow(ExpositionWriteError);
  });

  test('a unit that is not the end of the name, in OpenMetrics', () => {
    expect(() => writeOpenMetrics([{ name: 'a', type: 'gauge', unit: 's', samples: [] }])).toThrow('not the end');
  });

  test('half a character becomes U+FFFD', () => {
    expect(writeText(gauge({ labels: { b: '\ud800' } }))).toBe('# TYPE a gauge\na{b="\ufffd"} 1\n');
  });
});

/** Families in the form that both formats write unchanged, so that parsing gives the input back. */
function families(types: MetricType[], counterSuffix: '' | '_total'): fc.Arbitrary<FamilyInput[]> {
  const text = fc.string({ unit: 'binary', maxLength: 12 });
  const labelName = fc.constantFrom('constructor', 'toString', 'a', 'b', 'é.', 'with space', 'quo"te', 'back\\slash');
  const labels = fc.dictionary(labelName, text, { maxKeys: 3 });
  const value = fc.double();
  const count = fc.nat();
  const sample = (type: MetricType): fc.Arbitrary<SampleInput[]> => {
    if (type === 'histogram')
      return fc
        .tuple(
          labels,
          count,
          count,
          value.filter((v) => v >= 0),
        )
        .map(([common, low, more, sum]) => [
          { suffix: '_bucket', labels: { ...common, le: '0.005' }, value: low },
          { suffix: '_bucket', labels: { ...common, le: '+Inf' }, value: low + more },
          { suffix: '_count', labels: common, value: low + more },
          { suffix: '_sum', labels: common, value: sum },
        ]);
    if (type === 'summary')
      return fc
        .tuple(
          labels,
          value.filter((v) => !(v < 0)),
        )
        .map(([common, quantile]) => [
          { labels: { ...common, quantile: '0.5' }, value: quantile },
          { suffix: '_count', labels: common, value: 1 },
        ]);
    if (type === 'counter')
      return fc
        .tuple(labels, count)
        .map(([common, total]) => [{ suffix: counterSuffix, labels: common, value: total }]);
    const time = fc.option(fc.integer({ min: -1e12, max: 1e13 }).map((ms) => ms / 1000));
    return fc
      .tuple(labels, value, time)
      .map(([common, v, timestampSeconds]) => [{ labels: common, value: v, timestampSeconds }]);
  };
  const family = fc.constantFrom(...types).chain((type) =>
    fc.record({
      type: fc.constant(type),
      name: fc.constantFrom('a', 'b:c', 'd.e', 'é'),
      help: fc.option(text.filter((help) => help !== '')),
      samples: sample(type),
    }),
  );
  return fc.array(family, { maxLength: 5 }).map((list) =>
    list.map((one, i) => ({
      ...one,
      name: `f${i}${one.name}x${one.type === 'counter' && counterSuffix === '' ? '_total' : ''}`,
    })),
  );
}

function inputView(list: readonly FamilyInput[]): unknown {
  return list.map(({ name, type, help, samples }) => ({
    name,
    type,
    help: help ?? null,
    samples: samples.map((sample) => [
      name + (sample.suffix ?? ''),
      Object.entries(sample.labels ?? {}).sort(),
      sample.value,
      sample.timestampSeconds ?? null,
    ]),
  }));
}

function parsedView(exposition: Exposition): unknown {
  return exposition.families.map(({ name, type, help, samples }) => ({
    name,
    type,
    help,
    samples: samples.map((sample) => [
      sample.name,
      Object.entries(sample.labels).sort(),
      sample.value,
      sample.timestampSeconds,
    ]),
  }));
}

describe('what is written is read back', () => {
  const types: MetricType[] = ['counter', 'gauge', 'histogram', 'summary', 'unknown'];
  test('text', () => {
    fc.assert(
      fc.property(families(types, ''), (list) => {
        expect(parsedView(parseText(encode(writeText(list, { utf8Names: true }))))).toEqual(inputView(list));
      }),
      { numRuns: 100 },
    );
  });

  test('OpenMetrics, by the letter', () => {
    fc.assert(
      fc.property(families(types, '_total'), (list) => {
        const page = encode(writeOpenMetrics(list, { utf8Names: true }));
        expect(parsedView(parseOpenMetrics(page))).toEqual(inputView(list));
      }),
      { numRuns: 100 },
    );
  });
});
