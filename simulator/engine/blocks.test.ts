import { expect, test } from '@jest/globals';
import { BlockLives } from './blocks.ts';

test('age, idle time and gaps of a block, and a new life after each end', () => {
  const lives = new BlockLives(3);
  const at = (now_ns: number, happen: () => void): void => {
    lives.now_ns = now_ns;
    happen();
  };
  at(10, () => lives.begin(1));
  at(15, () => lives.begin(2));
  at(30, () => lives.use(1));
  at(100, () => lives.use(1));
  at(110, () => lives.end(1));
  expect(lives.takeEnded()).toEqual([{ lifetime_ns: 100, idle_ns: 10, reuseGaps_ns: [70] }]);
  at(110, () => lives.begin(1));
  at(120, () => lives.end(1));
  at(120, () => lives.end(2));
  expect(lives.takeEnded()).toEqual([
    { lifetime_ns: 10, idle_ns: 10, reuseGaps_ns: [] },
    { lifetime_ns: 105, idle_ns: 105, reuseGaps_ns: [] },
  ]);
  expect(lives.takeEnded()).toEqual([]);
});

test('only the latest four uses are kept, as in vLLM', () => {
  const lives = new BlockLives(1);
  lives.begin(0);
  for (const use_ns of [1, 2, 4, 8, 16, 32]) {
    lives.now_ns = use_ns;
    lives.use(0);
  }
  lives.end(0);
  expect(lives.takeEnded()[0]?.reuseGaps_ns).toEqual([4, 8, 16]);
});
