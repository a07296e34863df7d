import { expect, test } from '@jest/globals';
import { capacitySentence } from './next-step.ts';

const response = {
  ...({ load: 'concurrency', range: { start: 1, min: 1, max: 512 }, confidence: 0.95 } as const),
  ...{ holds: 8, fails: 9, confirmed: true },
};

test.each([
  [{ end: 'found' }, 'holds up to concurrency 8, fails from concurrency 9 (95 % confidence)'],
  [
    { end: 'found', load: 'request_rate', holds: 22.63, fails: 24.68 },
    'holds up to 22.63 requests/s, fails from 24.68 requests/s (95 % confidence)',
  ],
  [
    { end: 'not_reached', holds: 512, fails: null },
    'holds up to concurrency 512 (95 % confidence), the highest load of the search (--find-max)',
  ],
  [
    { end: 'none_holds', holds: null, fails: 1 },
    'fails from concurrency 1, the lowest load of the search (95 % confidence)',
  ],
  [
    { end: 'not_monotonic', holds: 3, fails: 4 },
    'not monotonic: fails at concurrency 4 and holds at a higher load; below, holds up to concurrency 3',
  ],
  [
    { end: 'undecided', fails: 12 },
    'holds up to concurrency 8, fails from concurrency 12 (95 % confidence); the loads between could not be decided (1.50 times apart)',
  ],
  [
    { end: 'budget', fails: null, confirmed: false },
    'ended by the budget: holds up to concurrency 8 (not confirmed by repeats)',
  ],
  [{ end: 'interrupted', holds: null, fails: null, confirmed: false }, 'interrupted: nothing is known'],
] as const)('%j', (change, sentence) => {
  expect(capacitySentence({ ...response, ...change })).toBe(sentence);
});
