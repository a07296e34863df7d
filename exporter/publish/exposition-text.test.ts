import { expect, test } from '@jest/globals';
import { familyHead, sampleLine } from './exposition-text.ts';

test('label values escape backslash, quote and line feed; help only backslash and line feed', () => {
  expect(sampleLine('x', { labels: { a: 'C:\\dir "one"\ntwo' }, value: 1 })).toBe(
    'x{a="C:\\\\dir \\"one\\"\\ntwo"} 1\n',
  );
  expect(familyHead('x', 'a \\ "b"\nc', 'gauge')).toBe('# HELP x a \\\\ "b"\\nc\n# TYPE x gauge\n');
});

test('shared labels come first; without labels there are no braces', () => {
  expect(sampleLine('x', { metricName: 'x_sum', labels: { b: '2' }, sharedLabels: { a: '1' }, value: 0.5 })).toBe(
    'x_sum{a="1",b="2"} 0.5\n',
  );
  expect(sampleLine('x', { labels: {}, value: 0 })).toBe('x 0\n');
});

test.each([
  [0.1 + 0.2, '0.30000000000000004'],
  [1e-7, '1e-7'],
  [12345678901234, '12345678901234'],
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
  [NaN, 'NaN'],
])('%d is written %s', (value, text) => {
  expect(sampleLine('x', { labels: {}, value })).toBe(`x ${text}\n`);
});
