import { expect, test } from '@jest/globals';
import { ImportNotes } from '../import-notes.ts';
import { Fields, publicOriginOrNull } from './fields.ts';

test('members by kind: what is of another kind is unknown, and noted once per kind of fault', () => {
  const notes = new ImportNotes();
  const fields = new Fields(
    { n: 1.5, text: '12e3', bad: 'x', minus: -1, half: 0.5, none: null, list: [1, 'a', NaN], object: { a: 1 } },
    notes,
  );
  expect(fields.number('n')).toBe(1.5);
  expect(fields.number('text')).toBe(12_000);
  expect(fields.number('bad')).toBeNull();
  expect(fields.number('absent')).toBeNull();
  expect(fields.number('none')).toBeNull();
  expect(fields.amount('minus')).toBeNull();
  expect(fields.count('half')).toBeNull();
  expect(fields.numbers('list')).toEqual([1, null, null]);
  expect(fields.object('object')?.number('a')).toBe(1);
  expect(fields.text('n')).toBeNull();
  expect(notes.lines).toEqual([
    '1 × numbers that were written as text (first: text)',
    '1 × values read as unknown: not a number (first: bad)',
    '1 × negative values read as unknown (first: minus)',
    '1 × values read as unknown: not a whole number (first: half)',
    '1 × values read as unknown: not text (first: n)',
  ]);
});

test('only its own members are seen, and unread ones are noted', () => {
  const notes = new ImportNotes();
  const fields = new Fields(JSON.parse('{"__proto__": {"a": 1}, "b": 2, "c": 3}'), notes);
  expect(fields.number('a')).toBeNull();
  expect(fields.raw('toString')).toBeUndefined();
  fields.number('b');
  fields.ignore('c');
  fields.noteUnread();
  expect(notes.lines).toEqual(['not understood: __proto__']);
});

test.each([
  ['http://host:8000/v1?key=secret', 'http://host:8000'],
  ['user:secret@host:9000/v1', 'http://host:9000'],
  ['localhost:8000', 'http://localhost:8000'],
  ['https://[::1]:8443/x', 'https://[::1]:8443'],
  ['grpc://host:1', null],
  ['http://a b', null],
  ['host:99999', null],
  ['', null],
])('%p is at %p', (url, origin) => {
  expect(publicOriginOrNull(url)).toBe(origin);
});
