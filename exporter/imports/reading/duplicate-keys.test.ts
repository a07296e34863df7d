import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DuplicateKeyError, parseJson } from './json-text.ts';
import { JsonSplitter } from './long-json/json-splitter.ts';

/** JSON as pairs, so that an object may have a key twice. */
type Pairs = string | number | null | readonly Pairs[] | { readonly pairs: readonly (readonly [string, Pairs])[] };

// No key that begins with a backslash: after one, V8 takes an escaped key of another object for it.
const KEYS = fc.constantFrom('a', 'b', '__proto__', 'constructor', ':', '{"a":1}', 'c\\', '"', 'é', '1', '01');

const { value: tree } = fc.letrec<{ value: Pairs }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    fc.constant(null),
    KEYS,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(KEYS, tie('value')), { maxLength: 4 }).map((pairs) => ({ pairs })),
  ),
}));

/** Keys are escaped in one of two ways. */
function textOf(value: Pairs): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (!('pairs' in value)) return `[${value.map(textOf).join(' , ')}]`;
  const key = (name: string, i: number): string =>
    i % 2 === 0
      ? JSON.stringify(name)
      : `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${JSON.stringify(name.slice(1)).slice(1)}`;
  return `{${value.pairs.map(([name, member], i) => `${key(name, i)} : ${textOf(member)}`).join(',')}}`;
}

function hasDuplicate(value: Pairs): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (!('pairs' in value)) return value.some(hasDuplicate);
  const { pairs } = value;
  return new Set(pairs.map(([name]) => name)).size < pairs.length || pairs.some(([, member]) => hasDuplicate(member));
}

const isRefused = (read: () => unknown): boolean => {
  try {
    read();
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(DuplicateKeyError);
    return true;
  }
};

test('a text is refused when one of its objects has a key twice, and only then', () => {
  fc.assert(
    fc.property(tree, (value) => {
      expect(isRefused(() => parseJson(textOf(value)))).toBe(hasDuplicate(value));
    }),
    { numRuns: 500 },
  );
});

test('so is a long one, in its lists and beside them, wherever its pieces end', () => {
  fc.assert(
    fc.property(fc.array(tree, { maxLength: 5 }), tree, fc.integer({ min: 1, max: 40 }), (list, other, length) => {
      const document: Pairs = {
        pairs: [
          ['before', other],
          ['list', list],
          ['after', list],
        ],
      };
      const bytes = Buffer.from(textOf(document));
      const read = (): void => {
        const splitter = new JsonSplitter([{ path: ['list'], elements: () => undefined }]);
        for (let at = 0; at < bytes.length; at += length) splitter.feed(bytes.subarray(at, at + length));
        splitter.finish();
      };
      expect(isRefused(read)).toBe(hasDuplicate(document));
    }),
    { numRuns: 500 },
  );
});

describe('the message has the key and the place of the second', () => {
  test.each([
    ['{"a": 1, "b": 2, "a": 3}', 'an object has the key "a" twice, the second at character 17'],
    ['[{"x": {"n": NaN, "\\u006e": 2}}]', 'an object has the key "n" twice, the second at character 18'],
    ['{"a\\nb": 1, "a\\nb": 1}', 'an object has the key "a\u{FFFD}b" twice, the second at character 12'],
  ])('%s', (text, message) => {
    expect(() => parseJson(text)).toThrow(message);
    expect(() => parseJson(text, 'bigint')).toThrow(message);
  });

  test('in bytes of the file for a long one', () => {
    const splitter = new JsonSplitter([{ path: ['l'], elements: () => undefined }]);
    const text = '{"é": 1, "l": [{"a": 1}, {"b": 1, "b": 2}]}';
    const place = Buffer.byteLength(text.slice(0, text.lastIndexOf('"b"')));
    expect(() => splitter.feed(Buffer.from(text))).toThrow(
      `an object has the key "b" twice, the second at byte ${place}`,
    );
  });
});
