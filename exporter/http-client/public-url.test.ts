import { expect, test } from '@jest/globals';
import { publicOrigin, publicUrl } from './public-url.ts';

const secret = 'http://user:pass@host:8000/v1/metrics?key=secret#secret';

test('an origin is scheme, host and port', () => {
  expect(publicOrigin(secret)).toBe('http://host:8000');
});

test('a URL keeps its path, and nothing that may be a secret', () => {
  expect(publicUrl(secret)).toBe('http://host:8000/v1/metrics');
});

test.each([['host:8000'], ['host'], ['file:///etc/passwd']])('%p is refused', (url) => {
  expect(() => publicUrl(url)).toThrow(/URL/);
});
