import { expect, test } from '@jest/globals';
import { TokenBucket } from './token-bucket.ts';

test('the burst at once, then one per interval', () => {
  const limit = { interval_ms: 1000, burst: 2 };
  const bucket = new TokenBucket();
  const taken = [5000, 5000, 5000, 5999, 6000, 6001, 8000, 8000, 8000].map((at_ms) => bucket.take(limit, at_ms));
  expect(taken).toEqual([true, true, false, false, true, false, true, true, false]);
});
