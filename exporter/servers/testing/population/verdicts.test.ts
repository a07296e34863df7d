import { expect, test } from '@jest/globals';
import { verdictsOver } from './verdicts.ts';

test('over 2,000 generated histories no gain is wrong, and most are known', () => {
  const { exact, unknown, wrong, ambiguous, examples } = verdictsOver(Array.from({ length: 2000 }, (_, i) => i));
  expect({ wrong, examples }).toEqual({ wrong: 0, examples: [] });
  expect(exact / (exact + unknown)).toBeGreaterThan(0.8);
  expect(ambiguous).toBeLessThan(exact / 10);
});
