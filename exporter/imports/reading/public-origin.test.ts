import { expect, test } from '@jest/globals';
import { publicOriginOrNull } from './public-origin.ts';

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
