import { expect, test } from '@jest/globals';
import { shownArguments } from './public-value.ts';

test('the values of headers are not displayed', () => {
  const argv = [
    '--model',
    'm',
    '--header',
    'A: secret',
    '--b-server-metrics-header=X-Key: secret',
    '--header',
    'secret',
  ];
  expect(shownArguments(argv)).toEqual([
    ...['--model', 'm', '--header', 'A: ***', '--b-server-metrics-header=X-Key: ***', '--header', '***'],
  ]);
  expect(shownArguments(['--header=a: b', 'kept'])).toEqual(['--header=a: ***', 'kept']);
});

test('credentials of addresses and of extra inputs are not displayed', () => {
  const given = [
    '--a',
    'http://u:secret@h:8000',
    '--b=h?k=secret',
    '--b-extra-inputs',
    '{"api_key":"secret","top_k":1}',
  ];
  expect(shownArguments(given)).toEqual([
    ...['--a', 'http://***@h:8000', '--b=h?k=***', '--b-extra-inputs', '{"api_key":"***","top_k":1}'],
  ]);
  expect(shownArguments(['--extra-inputs', '{"api_key":"secret'])).toEqual(['--extra-inputs', '***']);
  expect(shownArguments(['--extra-inputs=token:secret', '--isl', '5'])).toEqual([
    '--extra-inputs=token:***',
    '--isl',
    '5',
  ]);
});
