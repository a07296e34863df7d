import { describe, expect, test } from '@jest/globals';
import type { CapacityFile } from '../../core/run/capacity.ts';
import { exampleCapacity } from '../store/fixtures/example-capacity.ts';
import { compareCapacities } from './capacity.ts';
import { defaultRules } from './rules.ts';

const RULES = defaultRules([]);

const rate = (holds: number | null, fails: number | null, change: Partial<CapacityFile> = {}): CapacityFile =>
  exampleCapacity({ load: 'request_rate', holds, fails, ...change });
const slots = (holds: number | null, fails: number | null, change: Partial<CapacityFile> = {}): CapacityFile =>
  exampleCapacity({ load: 'concurrency', holds, fails, ...change });

const compared = (a: readonly CapacityFile[], b: readonly CapacityFile[], rules = RULES) => {
  const { verdict, reason, effect, values, runs, sentence } = compareCapacities(a, b, rules, false);
  return { verdict, reason, effect, values, runs, sentence };
};

describe('rates of requests, whose failing one is not part of the interval', () => {
  test('A in [10, 11), B in [15, 16.5): from 15 ÷ 11 to 16.5 ÷ 10, improved', () => {
    const { verdict, effect, values, sentence } = compared([rate(10, 11)], [rate(15, 16.5)]);
    expect(verdict).toBe('improved');
    expect(effect?.low).toBeCloseTo(15 / 11, 9);
    expect(effect?.high).toBeCloseTo(1.65, 9);
    // √(15 ÷ 11 × 1.65)
    expect(effect?.estimate).toBeCloseTo(1.5, 9);
    expect(values).toEqual({ a: [[10, 11]], b: [[15, 16.5]], median_a: null, median_b: null });
    expect(sentence).toBe(
      'Request rate capacity is improved; it changed by +50 % (90 % interval +36.4 % to +65 %), 1 and 1 searches, margin 10 %.',
    );
  });

  test('the other way round it is regressed', () => {
    expect(compared([rate(15, 16.5)], [rate(10, 11)])).toMatchObject({ verdict: 'regressed', reason: 'decided' });
  });

  test('the same interval is unchanged: the change is less than 11 ÷ 10, the margin', () => {
    expect(compared([rate(10, 11)], [rate(10, 11)])).toMatchObject({ verdict: 'unchanged', reason: 'decided' });
  });

  test('intervals that overlap in part leave both possible, unless the margin is wider', () => {
    // From 10.5 ÷ 11 = 0.955 to 11.5 ÷ 10 = 1.15.
    expect(compared([rate(10, 11)], [rate(10.5, 11.5)])).toMatchObject({
      verdict: 'undecided',
      reason: 'wide_interval',
    });
    const wide = { ...RULES, margins: { request_rate_capacity: 0.16 } };
    expect(compared([rate(10, 11)], [rate(10.5, 11.5)], wide)).toMatchObject({ verdict: 'unchanged' });
  });

  test('neighboring intervals differ, but maybe by less than the margin', () => {
    // From 10.5 ÷ 10.4 to 11.3 ÷ 10: estimated +6.8 %.
    const { verdict, reason } = compared([rate(10, 10.4)], [rate(10.5, 11.3)]);
    expect({ verdict, reason }).toEqual({ verdict: 'undecided', reason: 'near_margin' });
  });
});

describe('requests in flight are whole numbers', () => {
  test('holds 4, fails 5 is a capacity of exactly 4: twice the same is no change at all', () => {
    const { verdict, effect, values } = compared([slots(4, 5)], [slots(4, 5)]);
    expect(verdict).toBe('unchanged');
    expect(effect?.low).toBeCloseTo(1, 9);
    expect(effect?.high).toBeCloseTo(1, 9);
    expect(values.a).toEqual([[4, 4]]);
  });

  test('4 after 5 is a change of −20 %', () => {
    const { verdict, effect } = compared([slots(5, 6)], [slots(4, 5)]);
    expect(verdict).toBe('regressed');
    expect(effect?.estimate).toBeCloseTo(0.8, 9);
  });
});

test('several searches of a side are one span, from the smallest to the largest capacity', () => {
  // A in [10, 12), B in [12, 15): from 1 to 1.5.
  const a = [rate(10, 11), rate(11, 12)];
  const b = [rate(12, 13), rate(14, 15)];
  const { verdict, effect, runs } = compared(a, b);
  expect(effect?.low).toBeCloseTo(1, 9);
  expect(effect?.high).toBeCloseTo(1.5, 9);
  expect(runs).toEqual({ a: 2, b: 2 });
  // A failing rate of 12 is not a capacity, so that 12 is certainly more; by how much, the middle says: √1.5.
  expect(verdict).toBe('improved');
});

describe('searches without a bound', () => {
  test('no load that fails, above all that was possible: improved by at least', () => {
    const { verdict, effect } = compared([slots(22, 24)], [slots(512, null, { end: 'not_reached' })]);
    expect(verdict).toBe('improved');
    expect(effect?.estimate).toBeCloseTo(512 / 23, 9);
    expect(effect?.high).toBe(Infinity);
  });

  test('neither has a load that fails: undecided', () => {
    const end = { end: 'not_reached' } as const;
    const { verdict, reason, effect } = compared([slots(512, null, end)], [slots(512, null, end)]);
    expect({ verdict, reason, effect }).toEqual({ verdict: 'undecided', reason: 'unbounded', effect: null });
  });

  test('no load that holds any more: regressed to nothing', () => {
    const { verdict, effect } = compared([slots(22, 24)], [slots(null, 1, { end: 'none_holds' })]);
    expect(verdict).toBe('regressed');
    expect(effect?.estimate).toBe(0);
  });
});

describe('what is no evidence', () => {
  test('bounds that no repeat confirms', () => {
    const open = slots(30, 32, { confirmed: false, end: 'budget' });
    const { verdict, reason, sentence } = compared([slots(4, 5)], [open]);
    expect({ verdict, reason }).toEqual({ verdict: 'undecided', reason: 'too_few_runs' });
    expect(sentence).toContain('the bounds of a search are not confirmed by repeats; continue it with its --run-id');
  });

  test('a server whose loads are not monotonic has no capacity', () => {
    const { verdict, reason, effect, values } = compared([slots(4, 5)], [slots(4, 6, { end: 'not_monotonic' })]);
    expect({ verdict, reason, effect }).toEqual({ verdict: 'undecided', reason: 'missing_values', effect: null });
    expect(values.b).toEqual([null]);
  });

  test('searches that are not comparable', () => {
    const { verdict, reason } = compareCapacities([slots(4, 5)], [slots(8, 9)], RULES, true);
    expect({ verdict, reason }).toEqual({ verdict: 'undecided', reason: 'preflight' });
  });
});
