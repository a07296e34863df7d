import { expect, test } from '@jest/globals';
import { verdictsOver } from './verdicts.ts';

test('over 2,000 generated histories no gain is wrong, and most are known', () => {
  const { exact, unknown, wrong, ambiguous, examples } = verdictsOver(Array.from({ length: 2000 }, (_, i) => i));
  expect({ wrong, examples }).toEqual({ wrong: 0, examples: [] });
  expect(exact / (exact + unknown)).toBeGreaterThan(0.8);
  expect(ambiguous).toBeLessThan(exact / 10);
});

test('no gain is wrong in histories that once gave one', () => {
  // A restarted process that shows an old number again by chance, replicas that started together, and gateways that
  // restart twice or omit a worker of which they show one family.
  const { wrong, examples } = verdictsOver([
    ...[
      48060, 878914, 896304, 5009057, 5020485, 9019880, 20273132, 20350796, 20356209, 40179807, 300195601, 320026233,
      420162387, 10220, 36834, 70210, 77448, 80283, 100499, 167104,
    ],
  ]);
  expect({ wrong, examples }).toEqual({ wrong: 0, examples: [] });
});
