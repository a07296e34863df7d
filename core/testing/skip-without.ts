import { test } from '@jest/globals';

/**
 * Stands for tests whose program is missing: skipped, with the reason. With `CI=true` it fails, because a build that tests less
 * than it claims is worse than a failed one.
 */
export function skipWithout(name: string, reason: string): void {
  if (process.env['CI'] === 'true') {
    test(name, () => {
      throw new Error(reason);
    });
    return;
  }
  // jest requires a test in each file; a skipped one is counted.
  test.skip(`${name}: ${reason}`, () => undefined);
}
