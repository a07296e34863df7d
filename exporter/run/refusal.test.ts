import { expect, test } from '@jest/globals';
import { checkLoadIsMeant, RefusedError } from './refusal.ts';

const ELSEWHERE = 'http://192.0.2.1:8000';

test.each([
  [{ concurrency: 65, steps: 1 }, '65 concurrent requests to http://192.0.2.1:8000'],
  [{ concurrency: null, steps: 1 }, 'a load without --concurrency as its limit'],
  [{ concurrency: 8, steps: 3 }, 'a sweep of 3 loads to http://192.0.2.1:8000'],
])('%j elsewhere needs a confirmation', (load, message) => {
  expect(() => checkLoadIsMeant(ELSEWHERE, load, false)).toThrow(RefusedError);
  expect(() => checkLoadIsMeant(ELSEWHERE, load, false)).toThrow(message);
  expect(() => checkLoadIsMeant(ELSEWHERE, load, true)).not.toThrow();
  for (const origin of ['http://localhost:1', 'http://127.0.0.9:1', 'http://[::1]:1']) {
    expect(() => checkLoadIsMeant(origin, load, false)).not.toThrow();
  }
});

test('64 at a time need none', () => {
  expect(() => checkLoadIsMeant(ELSEWHERE, { concurrency: 64, steps: 1 }, false)).not.toThrow();
});
