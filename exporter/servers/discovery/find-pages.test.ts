import { expect, test } from '@jest/globals';
import { httpSdPages } from './find-pages.ts';

test('applies the labels that Prometheus applies to the URL of a target', () => {
  const labels = { __scheme__: 'https', __metrics_path__: '/v1/metrics', '__param_collect[]': 'a b', job: 'nim' };
  const groups = [
    { targets: ['10.0.0.1:8000', '[fd00::1]:8000'], labels },
    { targets: ['gpu1:9400'] },
    { targets: [] },
  ];
  expect(httpSdPages(JSON.stringify(groups))).toEqual([
    'https://10.0.0.1:8000/v1/metrics?collect%5B%5D=a+b',
    'https://[fd00::1]:8000/v1/metrics?collect%5B%5D=a+b',
    'http://gpu1:9400/metrics',
  ]);
});

test.each([
  ['<html>', 'not JSON'],
  ['{}', 'not a list of target groups'],
  ['[null]', 'group 0: targets'],
  ['[{"targets":["a:1"]},{"targets":[1]}]', 'group 1: targets'],
  ['[{"targets":[],"labels":{"a":1}}]', 'group 0: labels'],
  ['[{"targets":["user:secret@a:1"]}]', 'group 0: a target'],
  ['[{"targets":["a:1/path"]}]', 'group 0: a target'],
  ['[{"targets":["a:1"],"labels":{"__scheme__":"file"}}]', 'group 0: a target'],
])('refuses %s', (text, message) => {
  expect(() => httpSdPages(text)).toThrow(message);
});
