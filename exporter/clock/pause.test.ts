import { expect, test } from '@jest/globals';
import { pause } from './pause.ts';

test('a wait ends with its time or with the signal, whichever is first', async () => {
  await pause(1);
  await pause(1, AbortSignal.timeout(60_000));
  const begun = performance.now();
  await pause(60_000, AbortSignal.timeout(5));
  await pause(60_000, AbortSignal.abort());
  expect(performance.now() - begun).toBeLessThan(30_000);
});
