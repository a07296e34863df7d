import { describe, expect, test } from '@jest/globals';
import { judgeAgainstHistory, regressionEnd } from './history.ts';
import { ONE, runsOf } from './testing/runs.ts';

/** Scattered without order, within ±2 %. */
const NOISE = [
  1.0, 0.99, 1.015, 0.985, 1.005, 1.01, 0.98, 1.0, 0.995, 1.02, 0.99, 1.01, 0.985, 1.015, 1.0, 0.98, 1.005, 0.995, 1.01,
  0.99,
];
const HISTORY = runsOf('h', NOISE);

describe('the end of a regression', () => {
  const regressed = new Set(
    judgeAgainstHistory(HISTORY, runsOf('n', [1.5, 1.5, 1.5], 100), { rules: ONE })
      .window.measures.filter(({ gating }) => gating)
      .map(({ measure, stat, unit, ...key }) =>
        [measure, stat, unit, key.definition, key.origin, key.population, key.clock].join(' '),
      ),
  );
  const after = (values: readonly number[]) =>
    regressionEnd(HISTORY, runsOf('n', values, 100), 3, { regressed, rules: ONE, levels: new Map() });

  test('is not seen while it lasts, and it says how many runs like the baseline would show it', () => {
    expect(after([1.3, 1.31, 1.3, 1.3, 1.29])).toEqual({ since: null, further: 2 });
  });

  test('is shown by as many runs as were said', () => {
    expect(after([1.3, 1.31, 1.3, 1.3, 1.0]).since).toBeNull();
    expect(after([1.3, 1.31, 1.3, 1.3, 1.0, 1.01]).since?.map(({ run_id }) => run_id)).toEqual(['n4', 'n5']);
  });

  test('one run is not the end, whether as before or much faster', () => {
    expect(after([1.3, 1.31, 1.3, 1.0, 1.3]).since).toBeNull();
    expect(after([1.3, 1.31, 1.3, 1.3, 0.3]).since).toBeNull();
  });

  test('what is less bad but still beyond the margin is not the end', () =>
    expect(after([1.5, 1.5, 1.5, 1.1, 1.1, 1.11, 1.1, 1.1]).since).toBeNull());
});
