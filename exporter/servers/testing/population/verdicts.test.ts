import { expect, test } from '@jest/globals';
import { verdictsOver } from './verdicts.ts';

test('over 2,000 generated histories no gain is wrong, and most are known', () => {
  const { exact, unknown, wrong, ambiguous, examples } = verdictsOver(Array.from({ length: 2000 }, (_, i) => i));
  expect({ wrong, examples }).toEqual({ wrong: 0, examples: [] });
  expect(exact / (exact + unknown)).toBeGreaterThan(0.8);
  expect(ambiguous).toBeLessThan(exact / 10);
});

test('no gain is wrong in histories that once gave one', () => {
  // A restarted process that shows an old number again by chance, and replicas that started together.
  const { wrong, examples } = verdictsOver([
    ...[
      48060, 878914, 896304, 5009057, 5020485, 9019880, 20273132, 20350796, 20356209, 40179807, 300195601, 320026233,
      420162387,
    ],
  ]);
  expect({ wrong, examples }).toEqual({ wrong: 0, examples: [] });
});
