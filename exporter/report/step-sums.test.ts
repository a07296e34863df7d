import { expect, test } from '@jest/globals';
import { OpenIntervals, StepSums } from './step-sums.ts';
import { timeBins } from './time-bins.ts';

test('requests in flight are a mean over time', () => {
  // Bins of 0.5 s. One from 0 to 1, one from 0.75 to 1.25 of 6 s, one inside a step.
  const open = new OpenIntervals();
  open.add(0, 1);
  open.add(0.75, 1.25);
  open.add(2.02, 2.07);
  const mean = open.mean(timeBins(6));
  [1, 1.5, 0.5, 0, 0.1, 0].forEach((expected, bin) => expect(mean[bin]).toBeCloseTo(expected, 9));
});

test('amounts are per second of their bin, also of a longer last one', () => {
  const sums = new StepSums();
  sums.add(0.45, 3);
  sums.add(20.15, 7);
  const perSecond = sums.perSecond(timeBins(20.2));
  expect(perSecond[0]).toBeCloseTo(6, 9);
  // From 19.5 to 20.2.
  expect(perSecond.at(-1)).toBeCloseTo(10, 9);
});
