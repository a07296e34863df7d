import { expect, test } from '@jest/globals';
import { environmentProxies } from './proxy.ts';

const PROXY = 'http://me:se%40cret@proxy:3128';

test.each([
  [{ HTTP_PROXY: PROXY }, 'http://h:8000', 'http://proxy:3128 (HTTP_PROXY)'],
  [{ http_proxy: PROXY, HTTP_PROXY: 'http://other:1' }, 'http://h', 'http://proxy:3128 (http_proxy)'],
  [{ HTTP_PROXY: PROXY }, 'https://h', null],
  [{ HTTPS_PROXY: 'proxy:3128' }, 'https://h', 'http://proxy:3128 (HTTPS_PROXY)'],
  [{ HTTPS_PROXY: 'https://proxy' }, 'https://h', 'https://proxy (HTTPS_PROXY)'],
  [{ HTTP_PROXY: '' }, 'http://h', null],
  [{}, 'http://h', null],
])('%j %s', (environment, url, name) => {
  expect(environmentProxies(environment)(url)?.name ?? null).toBe(name);
});

// As the manual of curl describes NO_PROXY, with the ports that Go's and undici's clients also read.
test.each([
  ['h', 'http://h:8000', true],
  ['other, h', 'http://h', true],
  ['other h', 'http://H.', true],
  ['example.org', 'http://api.example.org', true],
  ['.example.org', 'http://api.example.org', true],
  ['*.example.org', 'http://api.example.org', true],
  ['example.org', 'http://badexample.org', false],
  ['*', 'http://h', true],
  ['h:8000', 'http://h:8000', true],
  ['h:8000', 'http://h:9000', false],
  ['h:80', 'http://h', true],
  ['127.0.0.1', 'http://127.0.0.1:8000', true],
  ['10.0.0.0/8', 'http://10.1.2.3:8000', true],
  ['10.0.0.0/8', 'http://11.1.2.3:8000', false],
  ['::1', 'http://[::1]:8000', true],
  ['[::1]:8000', 'http://[::1]:8000', true],
  ['fd00::/8', 'http://[fd00::5]', true],
  ['10.0.0.0/99', 'http://10.0.0.1', false],
])('NO_PROXY=%s excepts %s: %s', (NO_PROXY, url, isExcepted) => {
  expect(environmentProxies({ HTTP_PROXY: PROXY, NO_PROXY })(url) === null).toBe(isExcepted);
});

test('credentials are only in the URL, and known as secrets', () => {
  const proxy = environmentProxies({ HTTP_PROXY: PROXY })('http://h');
  expect(proxy).toEqual({
    url: `${PROXY}/`,
    name: 'http://proxy:3128 (HTTP_PROXY)',
    secrets: ['me', 'se%40cret', 'se@cret'],
  });
});

test.each(['socks5://me:secret@h:1080', 'http://', 'ht tp://secret'])(
  '%s is refused without its value',
  (HTTP_PROXY) => {
    const read = (): unknown => environmentProxies({ HTTP_PROXY });
    expect(read).toThrow(/^HTTP_PROXY is not the URL of an HTTP proxy.*--no-proxy/);
    expect(read).not.toThrow('secret');
  },
);
