import { expect, test } from '@jest/globals';
import { parseTarget } from './target.ts';

const PATH = '/v1/chat/completions';

test.each([
  ['http://h:8000', 'http://h:8000', PATH, '/v1/models'],
  ['h:8000', 'http://h:8000', PATH, '/v1/models'],
  ['https://h/v1/', 'https://h', PATH, '/v1/models'],
  ['http://h/proxy/v1', 'http://h', `/proxy${PATH}`, '/proxy/v1/models'],
  [`http://h:1${PATH}`, 'http://h:1', PATH, '/v1/models'],
  ['http://[::1]:8000?version=2', 'http://[::1]:8000', `${PATH}?version=2`, '/v1/models?version=2'],
])('%s', (url, origin, path, modelsPath) => {
  expect(parseTarget(url, PATH)).toEqual({ origin, path, modelsPath });
});

test.each([
  ['ftp://h', 'scheme is ftp'],
  ['http://', 'not a URL'],
  ['', 'not a URL'],
  ['ht!tp://x', 'not a URL'],
  ['http:/x', 'not a URL'],
  ['https//x:8000', 'not a URL'],
  ['HTTP:x', 'not a URL'],
  ['http://h:99999', 'not a URL'],
  ['http://me:secret@h', 'user name or password'],
])('%s is refused', (url, message) => {
  expect(() => parseTarget(url, PATH)).toThrow(message);
  expect(() => parseTarget(url, PATH)).not.toThrow('secret');
});
