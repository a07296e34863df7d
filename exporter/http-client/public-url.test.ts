import { expect, test } from '@jest/globals';
import { publicOrigin, publicUrl, queryValues } from './public-url.ts';

const secret = 'http://user:pass@host:8000/v1/metrics?key=secret#secret';

test('the values of a query, as written and decoded', () => {
  expect(queryValues('http://h/?token=a%2Fb&alone&empty=')).toEqual(['a/b', '', 'a%2Fb', 'alone']);
  expect(queryValues('http://h')).toEqual(['']);
  expect(queryValues('h:8000?token=a')).toEqual(['a']);
  expect(queryValues('127.0.0.1:8000/v1?token=a')).toEqual(['a']);
  expect(queryValues('no url')).toEqual(['']);
});

test('an origin is scheme, host and port', () => {
  expect(publicOrigin(secret)).toBe('http://host:8000');
});

test('a URL keeps its path, and nothing that may be a secret', () => {
  expect(publicUrl(secret)).toBe('http://host:8000/v1/metrics');
});

test.each([['host:8000'], ['host'], ['file:///etc/passwd']])('%p is refused', (url) => {
  expect(() => publicUrl(url)).toThrow(/URL/);
});
