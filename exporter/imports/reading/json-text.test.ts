import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from './json-text.ts';

test('JSON is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJson(text)).toEqual({ value: JSON.parse(text) as unknown, notNumbers: 0 });
    }),
  );
});

test('the tokens of Python’s json become null, and stay in strings', () => {
  const text = '{"a": NaN, "b": [Infinity, -Infinity], "NaN": "NaN \\" Infinity", "c": 1}';
  expect(parseJson(text)).toEqual({ value: { a: null, b: [null, null], NaN: 'NaN " Infinity', c: 1 }, notNumbers: 3 });
});

test('whole numbers above 2^53 are exact when requested', () => {
  expect(parseJson('[1795279611023537732, 5, 1.5, 1e300]', 'bigint').value).toEqual([
    1795279611023537732n,
    5,
    1.5,
    1e300,
  ]);
});

test('hostile keys are keys', () => {
  const { value } = parseJson('{"__proto__": {"polluted": 1}, "constructor": 2}');
  expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

describe('what is not JSON is reported by its position, never by its text', () => {
  test.each([
    ['', 'it is empty'],
    ['{"secret": ', 'it is cut off at character 11'],
    ['{"secret"', 'it is cut off at character 9'],
    ['["secret', 'it is cut off at character 8'],
    ['{"secret": x}', 'it is not JSON at character 11'],
    ['['.repeat(1_000_000), 'it is nested more than 200 deep at character 200'],
    [`{"a":${'{"a":'.repeat(300)}`, 'it is nested more than 200 deep'],
  ])('%#', (text, message) => {
    expect(() => parseJson(text)).toThrow(message);
    expect(() => parseJson(text)).not.toThrow(/secret/);
  });
});
