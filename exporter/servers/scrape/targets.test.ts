import { describe, expect, test } from '@jest/globals';
import { parseTarget, targetOfServer, withoutRepeats, OPEN_ACCESS } from './targets.ts';

describe('an address of a metrics page', () => {
  test.each([
    ['localhost:8000', 'http://localhost:8000/metrics'],
    ['http://h:8000/', 'http://h:8000/metrics'],
    ['https://h', 'https://h/metrics'],
    ['http://h:8000/metrics', 'http://h:8000/metrics'],
    ['http://h:8000/metrics/', 'http://h:8000/metrics'],
    ['http://h:8000/prometheus/metrics', 'http://h:8000/prometheus/metrics'],
    ['h:30000/engine_metrics', 'http://h:30000/engine_metrics'],
    ['http://h:8000/metrics?a=b', 'http://h:8000/metrics?a=b'],
    ['HTTP://H:8000', 'http://h:8000/metrics'],
    ['[::1]:9400', 'http://[::1]:9400/metrics'],
    [' h:1 ', 'http://h:1/metrics'],
  ])('%s is %s', (given, url) => {
    expect(parseTarget(given)).toMatchObject({ url, system: null });
  });

  test.each([
    ['triton=h', 'http://h:8002/metrics'],
    ['triton=h:80', 'http://h/metrics'],
    ['triton=host:8102', 'http://host:8102/metrics'],
    ['trtllm=h:8000', 'http://h:8000/prometheus/metrics'],
    ['trtllm=h:8000/metrics', 'http://h:8000/metrics'],
    ['smg=https://h', 'https://h:29000/metrics'],
    ['dcgm=h', 'http://h:9400/metrics'],
  ])('%s names a system and is %s', (given, url) => {
    expect(parseTarget(given)).toMatchObject({ url, system: given.split('=')[0] });
  });

  test.each([
    ['', /missing/],
    ['   ', /missing/],
    ['ftp://h', /must be http or https/],
    ['ht!tp://h', /invalid scheme/],
    ['file:///etc/passwd', /must be http or https/],
    ['nope=h:1', /not a supported system/],
    ['constructor=h', /not a supported system/],
    ['http://', /expected an address/],
    ['a b', /must not contain blanks/],
    ['http:/h:8000', /invalid scheme/],
    ['http//h:8000', /invalid scheme/],
    ['http://evil\\@h', /backslashes/],
  ])('%s is rejected', (given, message) => {
    expect(() => parseTarget(given)).toThrow(message);
  });

  test('user info and query are part of the request and never displayed', () => {
    const target = parseTarget('http://u:p@h:8000/m?key=secret');
    expect(target.url).toBe('http://u:p@h:8000/m?key=secret');
    expect(target.name).toBe('http://h:8000/m');
  });
});

test('the page of an inference server is at the root, regardless of its API path', () => {
  expect(targetOfServer('http://h:8000', OPEN_ACCESS).url).toBe('http://h:8000/metrics');
});

test('an address given twice is one target, and keeps the name of its system', () => {
  const targets = ['h:8002', 'a:1', 'triton=h:8002', 'h:8002/'].map(parseTarget);
  expect(withoutRepeats(targets)).toEqual([parseTarget('triton=h:8002'), parseTarget('a:1')]);
});
