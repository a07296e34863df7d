import { expect, test } from '@jest/globals';
import { configurationDifference } from './preflight.ts';

test.each([
  [[{ a: 1 }, { a: 1 }], ''],
  [
    [{ load: { concurrency: 8 } }, { load: { concurrency: 32 } }, { load: { concurrency: 8 } }],
    'load.concurrency (8, 32)',
  ],
  [[{ warmup: null }, { warmup: { request_count: 4 } }], 'warmup.request_count (none, 4)'],
  [[{ plan: 'a'.repeat(64) }, { plan: 'b'.repeat(64) }], 'plan'],
  [
    [{}, { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7 }],
    'a (none, 1), b (none, 2), c (none, 3), d (none, 4), e (none, 5), 2 more',
  ],
])('%j', (configurations, expected) => {
  expect(configurationDifference(configurations)).toBe(expected);
});
