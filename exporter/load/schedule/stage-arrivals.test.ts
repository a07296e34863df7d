import { expect, test } from '@jest/globals';
import { stageOffsets_ns } from './arrivals.ts';
import type { ArrivalPattern, StagePlan } from './load-plan.ts';

const plan = (stages: readonly StagePlan[], pattern: ArrivalPattern = 'constant') =>
  ({ kind: 'stages', stages, pattern, smoothness: 1, seed: 7 }) as const;
const ramp = (from: number, to: number, seconds: number): StagePlan => ({ kind: 'rate', from, to, seconds });
const offsets = (...given: Parameters<typeof plan>): number[] =>
  [...stageOffsets_ns(plan(...given))].map((at) => at / 1e9);

test('a constant pattern has the expected number in each stage', () => {
  // Rates whose products with the duration are not exact in binary.
  const due = offsets([ramp(0.7, 0.7, 10), ramp(1.1, 1.1, 10), ramp(3, 3, 0.1), ramp(0.3, 0.3, 10)]);
  const within = (from: number, to: number): number => due.filter((at) => at >= from && at < to).length;
  expect([within(0, 10), within(10, 20)]).toEqual([7, 11]);
  // 0.3 arrivals are expected in the third, and the first is due when it begins; the rest follows in the fourth.
  expect([within(20, 20.1), within(20.1, 30.1)]).toEqual([1, 3]);
});

test('a ramp integrates the rate: from 0 to R over D, the n-th is due at D√(2n/RD)', () => {
  const due = offsets([ramp(0, 10, 20)]);
  expect(due).toHaveLength(100);
  for (const n of [0, 1, 2, 50, 99]) expect(due[n]).toBeCloseTo(20 * Math.sqrt((2 * n) / 200), 8);
});

test('a falling ramp mirrors a rising one', () => {
  const due = offsets([ramp(10, 0, 20)]);
  expect(due).toHaveLength(100);
  // With n left of 100, the time left is D√(2n/RD).
  for (const n of [1, 50, 99]) expect(20 - (due[100 - n] ?? NaN)).toBeCloseTo(20 * Math.sqrt((2 * n) / 200), 6);
});

test('stages with a concurrency move arrivals and change none', () => {
  const alone = offsets([ramp(5, 5, 4)], 'poisson');
  const parted = offsets(
    [ramp(5, 5, 2), { kind: 'concurrency', concurrency: 3, seconds: 10 }, ramp(5, 5, 2)],
    'poisson',
  );
  expect(parted.map((at) => Number(at.toFixed(6)))).toEqual(
    alone.map((at) => Number((at < 2 ? at : at + 10).toFixed(6))),
  );
});

test('a Poisson process keeps its intensity in every stage', () => {
  const due = offsets([ramp(100, 100, 100), ramp(400, 400, 100)], 'poisson');
  const first = due.filter((at) => at < 100).length;
  // Five standard deviations.
  expect(Math.abs(first - 10_000)).toBeLessThan(5 * 100);
  expect(Math.abs(due.length - first - 40_000)).toBeLessThan(5 * 200);
});
