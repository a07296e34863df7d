import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { ExpositionError, type Exposition, type Sample } from './exposition.ts';
import { parseText } from './parse.ts';
import { parseOpenMetrics } from './testing/open-metrics.ts';
import { parseProtobuf } from './protobuf/parse-protobuf.ts';
import { delimited, text, varintField } from './protobuf/testing/wire-writer.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (text: string): Exposition => parseText(encode(text));
const samples = (text: string): Sample[] => parse(text).families.flatMap((family) => family.samples);
const series = (text: string): [string, Record<string, string>, number][] =>
  samples(text).map(({ name, labels, value }) => [name, { ...labels }, value]);

function refusal(bytes: Uint8Array): ExpositionError {
  try {
    parseText(bytes);
  } catch (error) {
    if (error instanceof ExpositionError) return error;
    throw error;
  }
  throw new Error('the page was not refused');
}

// The expectations are those of Prometheus' own parser (model/textparse) unless a comment says otherwise.
describe('tolerated deviations', () => {
  test.each<[string, string, [string, Record<string, string>, number][]]>([
    ['an empty page', '', []],
    ['only blank lines', '\n \n\t\n', []],
    ['no HELP and TYPE', 'a 1\n', [['a', {}, 1]]],
    ['no final line feed', 'a 1', [['a', {}, 1]]],
    [
      'blank lines between families',
      'a 1\n\n\nb 2\n\n',
      [
        ['a', {}, 1],
        ['b', {}, 2],
      ],
    ],
    ['blanks at the end', 'a 1 \t\n', [['a', {}, 1]]],
    ['blanks before a name (part of it in Prometheus)', '  a 1\n', [['a', {}, 1]]],
    [
      'tabs and several spaces',
      'a\t1\nb{c="d"}   2\n',
      [
        ['a', {}, 1],
        ['b', { c: 'd' }, 2],
      ],
    ],
    [
      'a space before the braces of a known name',
      'a 1\na {b="c"} 2\n',
      [
        ['a', {}, 1],
        ['a', { b: 'c' }, 2],
      ],
    ],
    ['a space before the braces', 'a {b="c"} 1\n', [['a', { b: 'c' }, 1]]],
    ['no space behind the braces', 'a{b="c"}1\n', [['a', { b: 'c' }, 1]]],
    ['blanks in the braces', 'a{ b = "c" , d= "e" } 1\n', [['a', { b: 'c', d: 'e' }, 1]]],
    ['a comma before "}"', 'a{b="c",} 1\n', [['a', { b: 'c' }, 1]]],
    ['no comma between labels', 'a{b="c" d="e"} 1\n', [['a', { b: 'c', d: 'e' }, 1]]],
    ['empty braces', 'a{} 1\n', [['a', {}, 1]]],
    ['comments', '#\n# a comment\n#HELP a\n# HELPa b\n# EOF\na 1\n', [['a', {}, 1]]],
    [
      'quoted UTF-8 names',
      '{"my.name",l="v"} 1\n{"x y"} 2\n',
      [
        ['my.name', { l: 'v' }, 1],
        ['x y', {}, 2],
      ],
    ],
    ['a quoted name behind a label', '{l="v","my.name"} 1\n', [['my.name', { l: 'v' }, 1]]],
    ['quoted label names', 'a{"l.b"="v"} 1\n', [['a', { 'l.b': 'v' }, 1]]],
    ['colons in names', 'vllm:a:b 1\n', [['vllm:a:b', {}, 1]]],
    ['escapes in label values', String.raw`a{b="\\ \" \n \x"} 1`, [['a', { b: '\\ " \n \\x' }, 1]]],
    ['braces, commas, hashes, equals in label values', 'a{b="},{=# "} 1\n', [['a', { b: '},{=# ' }, 1]]],
    ['a raw line feed in a label value', 'a{b="c\nd"} 1\n', [['a', { b: 'c\nd' }, 1]]],
    ['NUL in a label value', 'a{b="c\0"} 1\n', [['a', { b: 'c\0' }, 1]]],
  ])('%s', (_, text, expected) => {
    expect(series(text)).toEqual(expected);
  });

  test.each<[string, number]>([
    ['Nan', NaN],
    ['NaN', NaN],
    ['+Inf', Infinity],
    ['-inf', -Infinity],
    ['Infinity', Infinity],
    ['-0', -0],
    ['+5', 5],
    ['.5', 0.5],
    ['5.', 5],
    ['1.7952804839517844e+09', 1795280483.9517844],
    ['1e+06', 1000000],
    ['1E-3', 0.001],
    ['0.0016200000000000001', 0.0016200000000000001],
    ['00000000000000000001', 1],
    ['123456789012345678', 123456789012345680],
    ['5e-324', 5e-324],
    ['1e-400', 0],
  ])('the value %s', (text, value) => {
    expect(samples(`a ${text}\nb{c="d"} ${text}\n`).map((sample) => sample.value)).toEqual([value, value]);
  });

  test('numbers are read like JavaScript reads them', () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value.toExponential()),
      fc.tuple(fc.nat(999_999_999), fc.nat(999_999)).map(([a, b]) => `${a}.${b}`),
      fc.tuple(fc.integer(), fc.integer({ min: -30, max: 30 })).map(([a, b]) => `${a}e${b}`),
    );
    fc.assert(fc.property(number, (text) => Object.is(samples(`a ${text}\n`)[0]?.value, Number(text))));
  });

  test('timestamps are milliseconds, also negative', () => {
    const times = samples('a 1 1395066363000\nb 1 -1500\nc 1\n').map((sample) => sample.timestampSeconds);
    expect(times).toEqual([1395066363, -1.5, null]);
  });

  test('the text of le is kept; only buckets have it apart', () => {
    const page = parse('a_bucket{x="y",le="0.0016200000000000001"} 1\na_bucket{x="y",le="1"} 2\ng{le="30",x="y"} 3\n');
    expect(page.columns.bounds).toEqual(['0.0016200000000000001', '1']);
    expect([...page.columns.boundIds]).toEqual([0, 1, -1]);
    expect(page.families.flatMap((family) => family.samples).map(({ labels }) => ({ ...labels }))).toEqual([
      { x: 'y', le: '0.0016200000000000001' },
      { x: 'y', le: '1' },
      { le: '30', x: 'y' },
    ]);
  });

  test('le first, in the middle and last gives the same label set', () => {
    const { columns } = parse('a_bucket{le="1",x="y",z="w"} 1\na_bucket{x="y",le="2",z="w"} 1\na_sum{z="w",x="y"} 1\n');
    expect(new Set(columns.labelSetIds).size).toBe(1);
  });
});

describe('rejected pages and the position of the error', () => {
  test.each<[string, string, number, number]>([
    ['no value', 'a\n', 1, 2],
    ['a value that is no number', 'ok 1\na true\n', 2, 3],
    ['an underscore in a number', 'a 1_2\n', 1, 3],
    ['hexadecimal', 'a 0x1p-3\n', 1, 3],
    ['a value beyond a double', 'a 1e400\n', 1, 3],
    ['a timestamp that is no integer', 'a 1 1.5\n', 1, 6],
    ['a timestamp beyond 64 bits', 'a 1 99999999999999999999\n', 1, 5],
    ['a third number', 'a 1 2 3\n', 1, 7],
    ['single quotes', "a{b='c'} 1\n", 1, 5],
    ['a cut label block', 'ok{b="c"} 1\nsomething_weird{problem="', 2, 25],
    ['a cut label name', 'a{b', 1, 4],
    ['an empty label name', 'a{=""} 0\n', 1, 3],
    ['a label name twice', 'a{b="1",b="1"} 0\n', 1, 9],
    ['__name__ as a label', 'a{__name__="b"} 0\n', 1, 3],
    ['labels without a name', '{a="ok"} 1\n', 1, 1],
    ['two names', 'a{"b"} 1\n', 1, 1],
    ['a carriage return', 'a 1\r\nb 2\r\n', 1, 3],
    ['a carriage return behind a type', '# TYPE a gauge\r\n', 1, 10],
    ['a byte order mark', '\ufeffa 1\n', 1, 1],
    ['a type that the format does not have', '# TYPE a info\n', 1, 10],
    ['TYPE without a name', '# TYPE #\n', 1, 8],
    ['NUL in a name', 'a\0 1\n', 1, 2],
  ])('%s', (_, text, line, column) => {
    const error = refusal(encode(text));
    expect([error.line, error.column]).toEqual([line, column]);
    expect(error.message).toBe(`line ${line}, column ${column}: ${error.reason}`);
  });

  test.each(['a{b="\u0000"} 1\n', '# HELP a \u0000\n'])('bytes that are not UTF-8', (text) => {
    const bytes = encode(text).map((byte) => (byte === 0 ? 0xff : byte));
    expect(refusal(bytes).reason).toMatch('UTF-8');
  });

  test('a message is one line and shows only a short part of the page', () => {
    const { message } = refusal(encode(`a ${'\u0007"\\'.repeat(5000)}x\n`));
    expect(message).not.toMatch(/[^ -~…]/);
    expect(message.length).toBeLessThan(150);
  });

  test('half a page is rejected, or ends with a complete number without a line feed', () => {
    const page = '# TYPE a histogram\na_bucket{x="y",le="1"} 12\na_bucket{x="y",le="+Inf"} 34\na_sum{x="y"} 5.6\n';
    for (let length = 1; length < page.length; length++) {
      const half = encode(page.slice(0, length));
      const complete = page[length - 1] === '\n';
      let exposition: Exposition | null = null;
      try {
        exposition = parseText(half);
      } catch (error) {
        expect(error).toBeInstanceOf(ExpositionError);
      }
      expect(exposition?.missingFinalNewline ?? true).toBe(!complete);
    }
  });
});

test.each([
  ['text', (help: string) => parseText(encode(`# HELP a ${help}\na 1\n`))],
  ['OpenMetrics', (help: string) => parseOpenMetrics(encode(`# HELP a ${help}\n# TYPE a gauge\na 1\n# EOF\n`))],
  [
    'protobuf',
    (help: string) =>
      parseProtobuf(Uint8Array.from(delimited([...text(1, 'a'), ...text(2, help), ...varintField(3, 1)]))),
  ],
])('a HELP of megabytes is shortened, %s', (_, parsed) => {
  const help = (length: number): string | null | undefined => parsed('é'.repeat(length)).family('a')?.help;
  expect(help(4096)).toBe('é'.repeat(4096));
  expect(help(1_000_000)).toBe(`${'é'.repeat(4096)}…`);
});

describe('families', () => {
  test('the suffixes of a typed name belong to it; a name with its own TYPE is a family of its own', () => {
    const page = parse(
      [
        'h_sum 3',
        '# TYPE h histogram',
        'h_bucket{le="+Inf"} 1',
        '# TYPE other gauge',
        'other 1',
        '# TYPE h_count counter',
        'h_count 1',
        '# TYPE s summary',
        's{quantile="0.5"} 1',
        's_count 1',
        'x_bucket{le="1"} 1',
        '# HELP h Late \\\\ help\\nhere.',
        '# TYPE alone histogram',
      ].join('\n'),
    );
    expect(page.families.map(({ name, type, help, rows }) => [name, type, help, rows.length])).toEqual([
      ['h', 'histogram', 'Late \\ help\nhere.', 2],
      ['other', 'gauge', null, 1],
      ['h_count', 'counter', null, 1],
      ['s', 'summary', null, 2],
      ['x_bucket', 'unknown', null, 1],
      ['alone', 'histogram', null, 0],
    ]);
  });

  test('HELP and TYPE twice: the first counts, the others are counted', () => {
    const page = parse('# HELP a one\n# TYPE a counter\na 1\n# HELP a two\n# TYPE a gauge\na{b="c"} 1\n');
    expect(page.family('a')).toMatchObject({ type: 'counter', help: 'one' });
    expect(page.repeatedMetadata).toBe(2);
  });
});

describe('duplicates', () => {
  test('the first counts, nothing is added up', () => {
    const page = parse(
      'a{b="1",c="2"} 1\nx 5\na{c="2",b="1"} 10\na{ b="1", c="2", d="" } 100\nh_bucket{le="1"} 1\nh_bucket{le="1"} 2\n',
    );
    expect(page.families.flatMap((family) => family.samples.map(({ name, value }) => [name, value]))).toEqual([
      ['a', 1],
      ['x', 5],
      ['h_bucket', 1],
    ]);
    expect(page.duplicates).toEqual({
      count: 3,
      examples: [
        { line: 3, series: 'a{b="1",c="2"}' },
        { line: 4, series: 'a{b="1",c="2",d=""}' },
        { line: 6, series: 'h_bucket{le="1"}' },
      ],
    });
  });

  test('the list is bounded', () => {
    const { duplicates } = parse('a 1\n'.repeat(1000));
    expect([duplicates.count, duplicates.examples.length]).toEqual([999, 10]);
  });

  test('labels of which only the limits between names and values differ are different', () => {
    const page = parse(
      'a{bc="d"} 1\na{b="cd"} 2\na{b="cd",e=""} 3\na{b="c",d="e"} 4\na{d="e",b="c"} 5\na{b="e",d="c"} 6\n',
    );
    expect(page.duplicates).toEqual({
      count: 2,
      examples: [
        { line: 3, series: 'a{b="cd",e=""}' },
        { line: 5, series: 'a{b="c",d="e"}' },
      ],
    });
  });

  test('samples of different times are none', () => {
    expect(parse('a 1 1000\na 2 2000\na 3 2000\n').duplicates.count).toBe(1);
  });
});
