import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JsonTextError } from '../json-text.ts';
import { JsonSplitter } from './json-splitter.ts';
import type { LongList } from './json-splitter.ts';

/** Reads a text in pieces that end at the given bytes. */
function split(text: string, lists: readonly LongList[], ends: readonly number[] = []): unknown {
  const bytes = Buffer.from(text);
  const splitter = new JsonSplitter(lists);
  const edges = [...new Set([0, ...ends.map((end) => end % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  for (const [i, end] of edges.entries()) splitter.feed(Buffer.from(bytes.subarray(edges[i - 1] ?? 0, end)));
  return splitter.finish().value;
}

/** The elements of the list at a path, and the rest. */
function taken(text: string, path: readonly string[], ends: readonly number[] = []): unknown {
  const elements: unknown[] = [];
  const rest = split(text, [{ path, elements: (values) => elements.push(...values) }], ends);
  return { elements, rest };
}

const EVERY_BYTE = Array.from({ length: 200 }, (_, i) => i);

const cut = fc.array(fc.nat(), { maxLength: 8 });

describe('a long list', () => {
  test('is handed over, and is empty in the rest, wherever the pieces end', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), fc.string(), cut, (list, other, text, ends) => {
        const json = JSON.stringify({ before: other, list, [`${text}"\\`]: text, after: { list: other } }, null, 1);
        expect(taken(json, ['list'], ends)).toEqual(
          JSON.parse(
            JSON.stringify({
              elements: list,
              rest: { before: other, list: [], [`${text}"\\`]: text, after: { list: other } },
            }),
          ),
        );
      }),
    );
  });

  test('may be nested deeper, in objects and lists of any name', () => {
    const json = JSON.stringify({ a: [{ r: { x: [1, 2], y: [3] } }, { r: 7 }, { r: { x: [4] } }], r: { x: [5] } });
    const found: unknown[] = [];
    const rest = split(
      json,
      [{ path: ['a', '*', 'r', '*'], elements: (values, at) => found.push([...at, ...values]) }],
      EVERY_BYTE,
    );
    expect(found.filter((each) => (each as unknown[]).length > 4)).toEqual([
      ['a', '0', 'r', 'x', 1],
      ['a', '0', 'r', 'x', 2],
      ['a', '0', 'r', 'y', 3],
      ['a', '2', 'r', 'x', 4],
    ]);
    expect(rest).toEqual({ a: [{ r: { x: [], y: [] } }, { r: 7 }, { r: { x: [] } }], r: { x: [5] } });
  });

  test('may be the whole value', () => {
    expect(taken('[1, {"a": [2]}, "3"]', [], EVERY_BYTE)).toEqual({ elements: [1, { a: [2] }, '3'], rest: [] });
  });

  test.each([
    ['an escaped key', '{"l\\u0069st": [1]}', { elements: [1], rest: { list: [] } }],
    ['no list', '{"list": {"list": [1]}}', { elements: [], rest: { list: { list: [1] } } }],
    ['null', '{"list": null}', { elements: [], rest: { list: null } }],
    ['a text of the same name', '{"x": "list", "y": [1]}', { elements: [], rest: { x: 'list', y: [1] } }],
    [
      'NaN and Infinity',
      '{"list": [NaN, 1, -Infinity], "x": NaN}',
      { elements: [null, 1, null], rest: { list: [], x: null } },
    ],
    [
      'more than one byte per character',
      '{"list": ["é𝄞"], "ü": "é"}',
      { elements: ['é𝄞'], rest: { list: [], ü: 'é' } },
    ],
  ])('%s', (_, json, expected) => {
    expect(taken(json, ['list'], EVERY_BYTE)).toEqual(expected);
  });

  test('that is passed over is counted, whatever its texts hold', () => {
    const texts = ['[', ']]', '"', '\\', '{"a":[', 'x\\"', '\\\\'];
    for (const list of [[], ['x'], texts, [texts, { texts }]]) {
      const counts: number[] = [];
      const ended = (count: number): void => void counts.push(count);
      const json = JSON.stringify({ list, after: [1] });
      expect(split(json, [{ path: ['list'], elements: null, ended }], EVERY_BYTE)).toEqual({ list: [], after: [1] });
      expect(counts).toEqual([list.length]);
    }
  });

  test('__proto__ is a key like any other', () => {
    const { rest } = taken('{"__proto__": {"polluted": 1}, "list": [{"__proto__": 2}]}', ['list']) as { rest: object };
    expect(Object.keys(rest)).toEqual(['__proto__', 'list']);
    expect('polluted' in {}).toBe(false);
  });
});

test('whole numbers above 2^53 are exact when requested', () => {
  const found: unknown[] = [];
  const splitter = new JsonSplitter([{ path: ['l'], elements: (values) => found.push(...values) }], 'bigint');
  splitter.feed(Buffer.from('{"l": [1700000000000000001], "x": 1700000000000000003}'));
  expect([found, splitter.finish().value]).toEqual([[1700000000000000001n], { x: 1700000000000000003n, l: [] }]);
});

describe('what is no JSON is reported with its place', () => {
  test.each([
    ['{"list": [1, 2, x]}', 'it is not JSON at byte 16'],
    ['{"list": [1, 2}, "x": 1}', 'it is not JSON at byte 14'],
    ['{"list": [1, 2', 'it is cut off at byte 14'],
    ['{"list": [1], "te', 'it is cut off at byte 17'],
    ['{"list": [1], "x": tru}', 'it is not JSON at byte 22'],
    ['{"list": [1]} {', 'it is cut off at byte 15'],
    ['{"list": [1]} 2', 'it is not JSON at byte 14'],
    ['{"list": [1], "list": [2]}', 'it has list twice at byte 22'],
    ['', 'it is empty'],
    [']', 'it is not JSON at byte 0'],
  ])('%s', (json, message) => {
    expect(() => taken(json, ['list'])).toThrow(new JsonTextError(message, null));
    expect(() => taken(json, ['list'], EVERY_BYTE)).toThrow(new JsonTextError(message, null));
  });

  test.each(['[,1]', '[1,]', '[1,,2]', '[,]', '[ , ]', '[1 2]', '[1],'])('%s', (list) => {
    for (const ends of [[], EVERY_BYTE]) {
      expect(() => taken(`{"list": ${list}, "x": 1}`, ['list'], ends)).toThrow(JsonTextError);
    }
  });

  test('a byte that is wrong anywhere is found, or changes a value', () => {
    const json = '{"a": [1, [2.5, "x"]], "list": [{"b": "c"}, 12, null], "d": true}';
    fc.assert(
      fc.property(fc.nat(json.length - 1), fc.constantFrom(...'[]{},:"x1 '), cut, (at, character, ends) => {
        const wrong = json.slice(0, at) + character + json.slice(at + 1);
        let expected: unknown;
        try {
          expected = JSON.parse(wrong);
        } catch {
          expect(() => taken(wrong, ['list'], ends)).toThrow(JsonTextError);
          return;
        }
        const { elements, rest } = taken(wrong, ['list'], ends) as { elements: unknown[]; rest: object };
        const list = (expected as Record<string, unknown>)['list'];
        expect(rest).toEqual(Array.isArray(list) ? { ...(expected as object), list: [] } : expected);
        if (Array.isArray(list)) expect(elements).toEqual(list);
      }),
    );
  });

  test('a million brackets are refused at the first that is too deep', () => {
    const deep = '['.repeat(1_000_000);
    expect(() => taken(deep, ['list'])).toThrow('it is nested more than 200 deep at byte 200');
    expect(() => taken(`{"list": ${deep}`, ['list'])).toThrow('it is nested more than 200 deep at byte 208');
  });

  test('the size of an element and of the content outside the lists is limited', () => {
    const endless = (start: string): (() => void) => {
      const splitter = new JsonSplitter([{ path: ['list'], elements: () => undefined }]);
      splitter.feed(Buffer.from(start));
      const megabyte = Buffer.alloc(2 ** 20, 'x');
      return () => {
        for (let i = 0; i < 64; i++) splitter.feed(megabyte);
      };
    };
    expect(endless('{"list": [1, "')).toThrow('an entry of list is larger than 32 MB at byte 12');
    expect(endless('{"list": [1], "x": "')).toThrow('besides the lists of its requests is larger than 48 MB');
    const passedOver = new JsonSplitter([{ path: ['list'], elements: null }]);
    passedOver.feed(Buffer.from('{"list": ["'));
    for (let i = 0; i < 64; i++) passedOver.feed(Buffer.alloc(2 ** 20, 'x'));
    passedOver.feed(Buffer.from('"]}'));
    expect(passedOver.finish().value).toEqual({ list: [] });
  });
});
