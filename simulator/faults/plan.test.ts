import { expect, test } from '@jest/globals';
import { NO_FAULTS, ServerFaults, UNTROUBLED } from './plan.ts';

test('a slow start is over when its time has passed', () => {
  const faults = new ServerFaults({ ...NO_FAULTS, slowStart: { seconds: 10 } }, 1);
  expect([0, 9.99, 10].map((time_s) => faults.isStarting(time_s))).toEqual([true, true, false]);
  expect(new ServerFaults(NO_FAULTS, 1).isStarting(0)).toBe(false);
});

test('a refusal is due in its windows, each of them with its own status', () => {
  const refusal = { rate: 1, retryAfterSeconds: 1, everySeconds: null };
  const faults = new ServerFaults(
    {
      ...NO_FAULTS,
      refusals: [
        { ...refusal, status: 429, afterSeconds: 1, seconds: 1 },
        { ...refusal, status: 503, afterSeconds: 3, seconds: 1, everySeconds: 5 },
      ],
    },
    1,
  );
  const statusAt = (time_s: number): number | undefined => faults.refusal(time_s)?.status;
  expect([0, 1, 1.9, 2, 3, 4, 8, 8.9, 9].map(statusAt)).toEqual([
    undefined,
    429,
    429,
    undefined,
    503,
    undefined,
    503,
    503,
    undefined,
  ]);
});

test('the share of streams that meet a fault is that of the plan', () => {
  const fates = (rate: number, seed: number): number => {
    const faults = new ServerFaults({ ...NO_FAULTS, reset: { rate, afterTokens: 7 } }, seed);
    const drawn = Array.from({ length: 1000 }, () => faults.streamFate().resetAfterTokens);
    expect(drawn.every((tokens) => tokens === null || tokens === 7)).toBe(true);
    return drawn.filter((tokens) => tokens !== null).length;
  };
  expect(fates(0, 1)).toBe(0);
  expect(fates(1, 1)).toBe(1000);
  // Five standard deviations of a binomial distribution around 300.
  expect(Math.abs(fates(0.3, 1) - 300)).toBeLessThan(5 * Math.sqrt(1000 * 0.3 * 0.7));
  expect(fates(0.3, 1)).toBe(fates(0.3, 1));
  expect(new ServerFaults(NO_FAULTS, 1).streamFate()).toEqual(UNTROUBLED);
});
