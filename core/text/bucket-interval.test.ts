import { expect, test } from '@jest/globals';
import { bucketIntervalText } from './bucket-interval.ts';

test.each<[low: number | null, high: number | null, width: number | null, unit: string | null, text: string]>([
  [0.1, 0.25, 0.15, 'seconds', '100 – 250 ms'],
  [0.5, 2.5, 2, 'seconds', '500 ms – 2.50 s'],
  [10, null, null, 'seconds', '> 10 s'],
  [null, 0, null, 'seconds', '≤ 0 ms'],
  [100, 300, 199, 'tokens', '100 – 300 tokens'],
  [1, 2, 0, 'tokens', '= 2 tokens'],
  [100, 500, 400, 'milliseconds', '100 – 500 milliseconds'],
  [1, 5, 4, 'gibibytes_per_second', '1 – 5 gibibytes per second'],
  [1, 5, 4, null, '1 – 5'],
])('(%p, %p]: %p %p', (low, high, width, unit, text) => {
  expect(bucketIntervalText({ low, high, width }, unit)).toBe(text);
});
