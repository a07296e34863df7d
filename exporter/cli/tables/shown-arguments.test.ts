import { expect, test } from '@jest/globals';
import { shownArguments } from './shown-arguments.ts';

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
    ...['--model', 'm', '--header', 'A: …', '--b-server-metrics-header=X-Key: …', '--header', ': …'],
  ]);
  expect(shownArguments(['--header=a: b', 'kept'])).toEqual(['--header=a: …', 'kept']);
});
