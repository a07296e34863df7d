import { describe, expect, test } from '@jest/globals';
import type { Objective } from '../run/objectives.ts';
import type { MeasureResult } from '../run/result.ts';
import { exactDistribution } from '../measures/distribution-result.ts';
import { DISTRIBUTION_MEASURES } from '../measures/measures.ts';
import { objectiveResult } from './verdict.ts';

const identity = { definition: '', origin: 'client', population: 'ok', clock: 'sent' } as const;

function withP95(value: number | null, ci95: [number, number] | null, bounds: [number, number] | null = null) {
  const [measure] = DISTRIBUTION_MEASURES;
  if (measure === undefined) throw new Error('there is no measure');
  // One of them beyond every upper limit.
  const result = exactDistribution(
    measure,
    'ok',
    Float64Array.from({ length: 40 }, (_, i) => (i === 0 ? 0.9 : 0.2)),
  );
  return [{ ...result, percentiles: { ...result.percentiles, p95: { value, ci95, bounds } } }];
}

const SLO: Objective = { measure: 'time_to_first_token', stat: 'p95', comparison: '<', limit: 0.3, unit: 'seconds' };

describe('a percentile is judged by its sampling interval', () => {
  test.each([
    ['all of it within', '<', [0.2, 0.29], 'met'],
    ['all of it beyond', '<', [0.31, 0.4], 'not_met'],
    ['it holds the limit', '<', [0.29, 0.31], 'undecided'],
    ['it begins at the limit, which is excluded', '<', [0.3, 0.4], 'not_met'],
    ['it ends at the limit, which is excluded', '<', [0.2, 0.3], 'undecided'],
    ['it ends at the limit, which is included', '<=', [0.2, 0.3], 'met'],
    ['it begins at the limit, which is included', '<=', [0.3, 0.4], 'undecided'],
    ['at least: all of it above', '>', [0.31, 0.4], 'met'],
    ['at least: all of it below', '>=', [0.2, 0.29], 'not_met'],
    ['at least: it holds the limit', '>', [0.2, 0.4], 'undecided'],
  ] as const)('%s', (_, comparison, [low, high], verdict) => {
    const result = objectiveResult({ ...SLO, comparison }, withP95(0.25, [low, high]));
    expect(result).toMatchObject({ value: 0.25, interval: [low, high], verdict });
  });

  test('without an interval it is undecided and says why', () => {
    expect(objectiveResult(SLO, withP95(0.9, null))).toMatchObject({
      value: 0.9,
      interval: null,
      verdict: 'undecided',
      // 0.95 ** 72 = 0.0249.
      why: 'too few samples for an interval (n = 40); about 72 requests decide if all are within the limit',
    });
    expect(objectiveResult(SLO, withP95(null, null))).toMatchObject({ value: null, verdict: 'undecided' });
    expect(objectiveResult(SLO, [])).toMatchObject({ verdict: 'undecided', why: 'the run does not have this measure' });
  });

  describe('with too few samples for an interval the share beyond the limit decides, where it can', () => {
    const [measure] = DISTRIBUTION_MEASURES;
    const judged = (values: readonly number[], slo: Objective) => {
      if (measure === undefined) throw new Error('there is no measure');
      const exact = exactDistribution(measure, 'ok', Float64Array.from(values));
      const { p95 } = exact.percentiles;
      const percentiles = { ...exact.percentiles, p95: { ...p95, ci95: null } };
      return objectiveResult(slo, [{ ...exact, effective_n: values.length, percentiles }]);
    };

    // 0.05 ** 2 = 0.0025; 0.95 ** 71 = 0.0262 and 0.95 ** 72 = 0.0249, against 0.025.
    test.each([
      [1, 0.4, '<', 'undecided'],
      [2, 0.4, '<', 'not_met'],
      [40, 0.4, '<', 'not_met'],
      [71, 0.2, '<', 'undecided'],
      [72, 0.2, '<', 'met'],
      [1, 0.4, '>', 'undecided'],
      [71, 0.2, '>', 'undecided'],
      [72, 0.2, '>', 'not_met'],
      [2, 0.4, '>', 'met'],
    ] as const)('%d times %d s or 1.4 times as much against p95 %s 300 ms', (n, value, comparison, verdict) => {
      const slo = { ...SLO, comparison };
      // Too scattered for their distance from the limit to decide.
      const values = Array.from({ length: n }, (_, i) => (i % 2 === 0 ? value : 1.4 * value));
      expect(judged(values, slo).verdict).toBe(verdict);
    });

    test('half beyond an upper limit are too many, a tenth of forty is not', () => {
      const mixed = (beyond: number): number[] => Array.from({ length: 40 }, (_, i) => (i < beyond ? 0.4 : 0.2));
      expect(judged(mixed(20), SLO)).toMatchObject({
        verdict: 'not_met',
        why: 'too few samples for an interval (n = 40), but more of them are beyond the limit than chance explains',
      });
      // P(4 or more of 40 at 5 %) = 0.14.
      expect(judged(mixed(4), SLO).verdict).toBe('undecided');
    });
  });

  describe('with fewer still, the distance of all values from the limit decides, where it can', () => {
    const [measure] = DISTRIBUTION_MEASURES;
    const judged = (values: readonly number[], effective_n: number, slo: Partial<Objective> = {}) => {
      if (measure === undefined) throw new Error('there is no measure');
      const exact = exactDistribution(measure, 'ok', Float64Array.from(values));
      const percentiles = { ...exact.percentiles, p90: { ...exact.percentiles.p90, ci95: null } };
      return objectiveResult({ ...SLO, stat: 'p90', limit: 0.05, ...slo }, [{ ...exact, effective_n, percentiles }]);
    };
    // 300 requests, p90 8.74 ms, max 9.50 ms, against 50 ms, where the dependence leaves 17 effective values.
    const fast = Array.from({ length: 300 }, (_, i) =>
      i < 271 ? 0.0078 + (0.00094 * i) / 270 : 0.00874 + (0.00076 * (i - 270)) / 29,
    );

    test('every value far within the limit is met, and the evidence says how', () => {
      const result = judged(fast, 17);
      expect(result.value).toBeCloseTo(0.00874, 4);
      expect(result).toMatchObject({ verdict: 'met', interval: null });
      // 1 of 17 + 1.
      expect(result.why).toMatch(
        /^too few samples for an interval \(n = 300, effective 17\), but all are within the limit by \d+ standard deviations from their mean, so that at most 5\.6 % of values can be expected beyond it, whatever/,
      );
    });

    test('every value far on the wrong side is not met', () => {
      expect(judged(fast, 17, { comparison: '>' }).verdict).toBe('not_met');
      expect(
        judged(
          fast.map((value) => value * 100),
          17,
        ).verdict,
      ).toBe('not_met');
    });

    test('values near the limit, and tails that 17 values cannot know, stay undecided', () => {
      expect(judged(fast, 17, { limit: 0.0096 }).verdict).toBe('undecided');
      expect(judged(fast, 8).verdict).toBe('undecided');
    });

    test('undecided says how many requests would decide: 36 of 8 effective in 300 (0.9 ** 36 = 0.0225)', () => {
      // ln 0.025 / ln 0.9 = 35.01; 36 × 300 / 8 = 1350.
      expect(judged(fast, 8).why).toBe(
        'too few samples for an interval (n = 300, effective 8); about 1,350 requests decide if all are within the limit',
      );
    });
  });

  test('bounds of buckets stand in for it', () => {
    expect(objectiveResult(SLO, withP95(0.2, null, [0.19, 0.21]))).toMatchObject({
      verdict: 'met',
      interval: [0.19, 0.21],
    });
  });

  test('each clock by its own name', () => {
    const measures: MeasureResult[] = withP95(0.1, [0.09, 0.11]);
    const due = withP95(0.5, [0.4, 0.6]).map((result) => ({ ...result, clock: 'due' as const }));
    expect(objectiveResult(SLO, [...due, ...measures]).verdict).toBe('met');
    expect(objectiveResult({ ...SLO, measure: 'time_to_first_token_from_due' }, [...measures, ...due]).verdict).toBe(
      'not_met',
    );
  });

  test('over ok requests, wherever those over all stand', () => {
    const all = withP95(0.9, [0.8, 1]).map((result) => ({ ...result, population: 'all' as const }));
    expect(objectiveResult(SLO, [...all, ...withP95(0.1, [0.09, 0.11])]).verdict).toBe('met');
  });
});

test('a number of the whole run decides by its value', () => {
  const errors = {
    ...identity,
    measure: 'error_ratio',
    unit: 'ratio',
    population: 'all',
    kind: 'scalar',
    value: 0.02,
  } as const;
  const slo: Objective = { measure: 'error_ratio', stat: null, comparison: '<=', limit: 0.02, unit: 'ratio' };
  expect(objectiveResult(slo, [errors])).toMatchObject({ verdict: 'met', value: 0.02, interval: null });
  expect(objectiveResult({ ...slo, limit: 0.01 }, [errors]).verdict).toBe('not_met');
  expect(objectiveResult(slo, [{ ...errors, value: null }]).verdict).toBe('undecided');
  const mean: Objective = { ...SLO, stat: 'mean' };
  expect(objectiveResult(mean, withP95(0.1, null))).toMatchObject({ verdict: 'met', interval: null });
});

test('an objective of some of the requests is judged by theirs alone', () => {
  const slow = withP95(0.5, [0.4, 0.6]);
  const parts = [{ by: 'turn' as const, value: 'first', measures: withP95(0.2, [0.1, 0.25]) }];
  const ofTurn = (turn: string): Objective => ({ ...SLO, measure: `time_to_first_token{turn=${turn}}` });
  expect(objectiveResult(ofTurn('first'), slow, parts)).toMatchObject({ value: 0.2, verdict: 'met' });
  expect(objectiveResult(ofTurn('later'), slow, parts)).toMatchObject({
    ...{ value: null, verdict: 'undecided', why: 'the run has no requests of turn=later' },
  });
});
