import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { Exposition } from '../exposition.ts';
import { parseText } from '../parse.ts';
import { parseOpenMetrics } from '../testing/open-metrics.ts';
import {
  formatCanonicalNumber,
  formatNumber,
  ExpositionWriteError,
  sampleLines,
  writePage,
  type FamilyInput,
  type SampleInput,
} from '../write-page.ts';

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
  // Bounds of engines' histograms.
  [2560, '2560.0'],
  [0.00025, '0.00025'],
])('the bound %p is written %s', (value, text) => {
  expect(formatCanonicalNumber(value)).toBe(text);
});

test.each([
  [0.1 + 0.2, '0.30000000000000004'],
  [1e-7, '1e-7'],
  [-0, '-0'],
  [12345678901234, '12345678901234'],
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
  [NaN, 'NaN'],
])('the value %d is written %s', (value, text) => {
  expect(sampleLines({ name: 'x', samples: [{ labels: {}, value }] })).toBe(`x ${text}\n`);
});

const PATH = { path: 'x"} 1\nfake 1\n#\\' };
const FAMILIES: FamilyInput[] = [
  {
    name: 'requests_total',
    type: 'counter',
    help: 'All "requests"\nand \\ more',
    samples: [{ labels: PATH, value: 3 }],
  },
  {
    name: 'wait_seconds',
    type: 'histogram',
    help: 'Wait.',
    samples: [
      { metricName: 'wait_seconds_bucket', sharedLabels: PATH, labels: { le: '1.0' }, value: 2 },
      { metricName: 'wait_seconds_bucket', sharedLabels: PATH, labels: { le: '+Inf' }, value: 4 },
      { metricName: 'wait_seconds_sum', sharedLabels: PATH, labels: {}, value: 0.5 },
      { metricName: 'wait_seconds_count', sharedLabels: PATH, labels: {}, value: 4 },
    ],
  },
  { name: 'depth', type: 'gauge', help: '', samples: [{ labels: {}, value: -1 }] },
  { name: 'misc', type: 'untyped', help: '', samples: [] },
];

const SAMPLES = String.raw`requests_total{path="x\"} 1\nfake 1\n#\\"} 3
# HELP wait_seconds Wait.
# TYPE wait_seconds histogram
wait_seconds_bucket{path="x\"} 1\nfake 1\n#\\",le="1.0"} 2
wait_seconds_bucket{path="x\"} 1\nfake 1\n#\\",le="+Inf"} 4
wait_seconds_sum{path="x\"} 1\nfake 1\n#\\"} 0.5
wait_seconds_count{path="x\"} 1\nfake 1\n#\\"} 4
# TYPE depth gauge
depth -1
`;

test('the text format', () => {
  expect(writePage(FAMILIES, 'text')).toBe(
    String.raw`# HELP requests_total All "requests"\nand \\ more
# TYPE requests_total counter
${SAMPLES}# TYPE misc untyped
`,
  );
});

test('OpenMetrics names counters without _total above their samples and marks the end', () => {
  const page = writePage(FAMILIES, 'openmetrics');
  expect(page).toBe(
    String.raw`# HELP requests All \"requests\"\nand \\ more
# TYPE requests counter
${SAMPLES}# TYPE misc unknown
# EOF
`,
  );
  expect(parseOpenMetrics(encode(page)).families).toHaveLength(4);
});

describe('rejected families and labels', () => {
  const gauge = (sample: Partial<SampleInput>, name = 'a'): FamilyInput[] => [
    { name, type: 'gauge', help: '', samples: [{ labels: {}, value: 1, ...sample }] },
  ];
  test.each<[string, FamilyInput[]]>([
    ['a name with a dot', gauge({}, 'a.b')],
    ['an empty name', gauge({}, '')],
    ['a name with a line feed', gauge({}, 'a 1\nb')],
    ["a sample's name with a brace", gauge({ metricName: 'a{' })],
    ['a label name with a quote', gauge({ labels: { 'a"': 'x' } })],
    ['a shared label name with a quote', gauge({ sharedLabels: { 'a"': 'x' } })],
    ['a reserved label name', gauge({ labels: { __name__: 'x' } })],
    ['__proto__', gauge({ labels: Object.fromEntries([['__proto__', 'x']]) })],
    ['a family twice', [...gauge({}), ...gauge({ labels: { b: 'c' } })]],
  ])('%s', (_, families) => {
    expect(() => writePage(families, 'text')).toThrow(ExpositionWriteError);
    expect(() => writePage(families, 'openmetrics')).toThrow(ExpositionWriteError);
  });

  test('half a character becomes U+FFFD', () => {
    expect(writePage(gauge({ labels: { b: '\ud800' } }), 'text')).toBe('# TYPE a gauge\na{b="\ufffd"} 1\n');
  });
});

/** Families in the form that both formats write unchanged, so that parsing gives the input back. */
const families = (): fc.Arbitrary<FamilyInput[]> => {
  const text = fc.string({ unit: 'binary', maxLength: 12 });
  const labels = fc.dictionary(fc.constantFrom('constructor', 'toString', 'a', 'b'), text, { maxKeys: 3 });
  const samples = (type: FamilyInput['type'], name: string): fc.Arbitrary<SampleInput[]> => {
    if (type === 'histogram')
      return fc
        .tuple(labels, fc.nat(), fc.nat(), fc.double({ min: 0, noNaN: true }))
        .map(([sharedLabels, low, more, sum]) => [
          { metricName: `${name}_bucket`, sharedLabels, labels: { le: '0.005' }, value: low },
          { metricName: `${name}_bucket`, sharedLabels, labels: { le: '+Inf' }, value: low + more },
          { metricName: `${name}_count`, sharedLabels, labels: {}, value: low + more },
          { metricName: `${name}_sum`, sharedLabels, labels: {}, value: sum },
        ]);
    const value = type === 'counter' ? fc.nat() : fc.double();
    return fc.tuple(labels, value).map(([own, v]) => [{ labels: own, value: v }]);
  };
  const family = (i: number): fc.Arbitrary<FamilyInput> =>
    fc
      .tuple(
        fc.constantFrom<FamilyInput['type']>('counter', 'gauge', 'histogram', 'untyped'),
        fc.constantFrom('a', 'b:c', '_d'),
        text,
      )
      .chain(([type, base, help]) => {
        const name = `f${i}${base}${type === 'counter' ? '_total' : ''}`;
        return samples(type, name).map((written) => ({ name, type, help, samples: written }));
      });
  return fc.nat({ max: 5 }).chain((n) => fc.tuple(...Array.from({ length: n }, (_, i) => family(i))));
};

type View = readonly { name: string; type: string; help: string | null; samples: unknown }[];

function inputView(list: readonly FamilyInput[], isOpen: boolean): View {
  return list.map(({ name, type, help, samples }) => ({
    name: isOpen && type === 'counter' ? name.slice(0, -'_total'.length) : name,
    type: type === 'untyped' ? 'unknown' : type,
    help: help === '' ? null : help,
    samples: samples.map(({ metricName, sharedLabels, labels, value }) => [
      metricName ?? name,
      Object.entries({ ...sharedLabels, ...labels }).sort(),
      value,
    ]),
  }));
}

function parsedView(exposition: Exposition): View {
  return exposition.families.map(({ name, type, help, samples }) => ({
    name,
    type,
    help,
    samples: samples.map((sample) => [sample.name, Object.entries(sample.labels).sort(), sample.value]),
  }));
}

test('what is written is read back in both formats', () => {
  fc.assert(
    fc.property(families(), (list) => {
      expect(parsedView(parseText(encode(writePage(list, 'text'))))).toEqual(inputView(list, false));
      const open = parseOpenMetrics(encode(writePage(list, 'openmetrics')));
      expect(parsedView(open)).toEqual(inputView(list, true));
    }),
    { numRuns: 200 },
  );
});

// OpenMetrics 1.0, §4.6 and §5.2.3: an example of the specification, with the label set and values of its own.
test('an exemplar follows the value of its bucket in OpenMetrics, and is no part of text 0.0.4', () => {
  const exemplar = { labels: { trace_id: 'KOO5S4vxi0o' }, value: 0.67, timestampSeconds: 1520879607.789 };
  const families: FamilyInput[] = [
    {
      name: 'foo',
      help: '',
      type: 'histogram',
      samples: [
        { metricName: 'foo_bucket', labels: { le: '1.0' }, value: 11, exemplar },
        { metricName: 'foo_bucket', labels: { le: '+Inf' }, value: 17 },
        { metricName: 'foo_count', labels: {}, value: 17 },
        { metricName: 'foo_sum', labels: {}, value: 324789.3 },
      ],
    },
  ];
  const page = writePage(families, 'openmetrics');
  expect(page).toContain('foo_bucket{le="1.0"} 11 # {trace_id="KOO5S4vxi0o"} 0.67 1520879607.789\n');
  expect(parseOpenMetrics(encode(page)).family('foo')?.samples[0]?.exemplar).toEqual(exemplar);
  expect(writePage(families, 'text')).toContain('foo_bucket{le="1.0"} 11\n');
});
