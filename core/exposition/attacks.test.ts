import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { ExpositionError, type Exposition, type Sample, type ParseLimits } from './exposition.ts';
import { parseText } from './parse.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (text: string): Exposition => parseText(encode(text));
const samples = (text: string): Sample[] => parse(text).families.flatMap((family) => family.samples);

function refusal(bytes: Uint8Array, limits?: Partial<ParseLimits>): ExpositionError {
  try {
    parseText(bytes, limits === undefined ? undefined : { limits });
  } catch (error) {
    if (error instanceof ExpositionError) return error;
    throw error;
  }
  throw new Error('the page was not refused');
}

describe('attacks', () => {
  test('names of object properties are plain labels', () => {
    const [sample] = samples('a{__proto__="p",constructor="c",toString="t",hasOwnProperty="h"} 1\n');
    expect(Object.entries(sample?.labels ?? {})).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['toString', 't'],
      ['hasOwnProperty', 'h'],
    ]);
    expect(({} as Record<string, unknown>)['p']).toBeUndefined();
    const page = parse('# TYPE __proto__ gauge\n__proto__ 1\nconstructor{le="x"} 1\n');
    expect(page.families.map(({ name, type }) => [name, type])).toEqual([
      ['__proto__', 'gauge'],
      ['constructor', 'unknown'],
    ]);
    expect(page.family('toString')).toBeUndefined();
  });

  test('label sets are immutable for readers', () => {
    const [sample] = samples('a{b="c"} 1\n');
    expect(Object.isFrozen(sample?.labels)).toBe(true);
  });

  test.each<[string, string, Partial<ParseLimits>, RegExp]>([
    ['bytes', 'a 1\n', { maxBytes: 3 }, /4 bytes, more than 3/],
    ['samples', 'a 1\nb 1\nc 1\n', { maxSamples: 2 }, /^line 3, .*more than 2 samples/],
    ['samples with timestamps', 'a 1 1\nb 1 1\nc 1 1\n', { maxSamples: 2 }, /^line 3, .*more than 2 samples/],
    ['labels', 'a{b="1",c="1",d="1"} 1\n', { maxLabels: 2 }, /more than 2 labels/],
    [
      'labels with le',
      'h_sum{b="1",c="1"} 1\nh_bucket{b="1",c="1",le="1"} 1\n',
      { maxLabels: 2 },
      /^line 2, .*2 labels/,
    ],
    ['label name', 'a{bcd="1"} 1\n', { maxLabelNameBytes: 2 }, /longer than 2 bytes/],
    ['metric name', 'abc 1\n', { maxLabelNameBytes: 2 }, /longer than 2 bytes/],
    ['label value', 'a{b="éé"} 1\n', { maxLabelValueBytes: 3 }, /longer than 3 bytes/],
    ['le', 'h_bucket{le="1.00"} 1\nh_bucket{le="1.000"} 1\n', { maxLabelValueBytes: 4 }, /^line 2, .*4 bytes/],
  ])('exceeding the limit of %s rejects the page', (_, text, limits, message) => {
    expect(refusal(encode(text), limits).message).toMatch(message);
  });

  test('pages exactly at the limits are read', () => {
    const limits = { maxBytes: 34, maxSamples: 1, maxLabels: 2, maxLabelNameBytes: 8, maxLabelValueBytes: 3 };
    expect(parseText(encode('h_bucket{bcdefghi="abc",le="1.0"} 1'.slice(1)), { limits }).columns.count).toBe(1);
  });

  test('garbage always gives a page or an ExpositionError', () => {
    const piece = fc.constantFrom(
      'a',
      '{',
      '}',
      '"',
      '\\',
      ',',
      '=',
      ' ',
      '\n',
      '#',
      '1',
      'le',
      '_bucket',
      '# TYPE ',
      '\t',
      'é',
      '\0',
      'b="c"',
      '-',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.uint8Array({ maxLength: 4 }), (pieces, tail) => {
        const bytes = Uint8Array.of(...encode(pieces.join('')), ...tail);
        try {
          expect(parseText(bytes).families.every(({ samples: list }) => list.length >= 0)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(ExpositionError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
