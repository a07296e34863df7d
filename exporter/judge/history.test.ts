import { describe, expect, test } from '@jest/globals';
import { judgeAgainstHistory } from './history.ts';
import { FIVE, ONE, runsOf } from './testing/runs.ts';

/** Scattered without order, within ±2 %. */
const NOISE = [
  1.0, 0.99, 1.015, 0.985, 1.005, 1.01, 0.98, 1.0, 0.995, 1.02, 0.99, 1.01, 0.985, 1.015, 1.0, 0.98, 1.005, 0.995, 1.01,
  0.99,
];
const HISTORY = runsOf('h', NOISE);
const judged = (values: readonly number[], history = HISTORY, rules = ONE) =>
  judgeAgainstHistory(history, runsOf('n', values, 100), { rules });

describe('one run', () => {
  test('far beyond the history and by the margin is suspect, never regressed', () => {
    const found = judged([1.5]);
    expect(found).toMatchObject({
      verdict: 'suspect',
      reason: 'unconfirmed_regression',
      needs: { design: 'confirm', further: 2 },
      anchor: null,
    });
    expect(found.window.measures[0]).toMatchObject({ method: 'robust_shift', runs: { a: 20, b: 1 } });
    expect(found.sentence).toBe(
      'Suspect: time to first token p50 is worse than the history; further runs have to confirm it.',
    );
  });

  test('beyond the history by less than the margin is not', () => expect(judged([1.04]).verdict).toBe('undecided'));

  test('in the middle of a history that is quieter than the margin is unchanged', () => {
    expect(judged([1.0]).verdict).toBe('unchanged');
  });

  test('says what it excludes, and what would have been noticed', () => {
    const wide = runsOf(
      'h',
      NOISE.map((value) => value ** 4),
    );
    const found = judged([1.01], wide);
    expect(found.verdict).toBe('undecided');
    expect(found.sentence).toMatch(/^No regression found; a change of \+\d+(\.\d)? % would have been suspected/);
    expect(found.window.measures[0]?.sentence).toMatch(/no slower than \+\d+(\.\d)? % \(95 %\)\.$/);
  });

  test('of 5 runs of history is suspect as well; of fewer it says how many are missing', () => {
    expect(judged([1.5], HISTORY.slice(0, 5)).verdict).toBe('suspect');
    expect(judged([1.5], HISTORY.slice(0, 3))).toMatchObject({
      verdict: 'undecided',
      reason: 'too_few_runs',
      needs: { design: 'baseline', further: 2 },
    });
    expect(judged([1.5], [])).toMatchObject({ verdict: 'undecided', needs: { design: 'baseline', further: 5 } });
  });

  test('runs of another configuration are no history', () => {
    const others = HISTORY.map((run) => ({ ...run, fingerprint: 'other' }));
    expect(judged([1.5], others)).toMatchObject({ verdict: 'undecided', needs: { further: 5 } });
  });
});

describe('several runs', () => {
  test('three slow ones are regressed, also for five gating measures', () => {
    const found = judged([1.5, 1.4, 1.45]);
    expect(found).toMatchObject({ verdict: 'regressed', window: { runs: { b: ['n0', 'n1', 'n2'] } } });
    expect(found.window.measures[0]?.effect?.estimate).toBeCloseTo(1.45, 1);
    expect(judged([1.5, 1.4, 1.45], HISTORY, FIVE).verdict).toBe('regressed');
  });

  test('a regression of six that are judged at once begins with the first slow one', () => {
    const { window } = judged([1.0, 0.99, 1.5, 1.4, 1.45, 1.5, 1.42, 1.47]);
    expect(window).toMatchObject({ verdict: 'regressed', runs: { b: ['n2', 'n3', 'n4', 'n5', 'n6', 'n7'] } });
    // More than are looked at together.
    expect(judged([1.0, ...Array<number>(10).fill(1.5)]).window.runs.b).toHaveLength(10);
  });

  test('two are not enough', () => {
    expect(judged([1.5, 1.4])).toMatchObject({ verdict: 'suspect', window: { runs: { b: ['n1'] } } });
  });

  test('two as before after a slow one take the suspicion away', () =>
    expect(judged([1.5, 1.0, 1.0]).verdict).toBe('unchanged'));

  test('of which none is unusual alone, evidence accumulates', () => {
    const wide = runsOf(
      'h',
      NOISE.map((value) => value ** 4),
    );
    const slow = [1.11, 1.12, 1.1, 1.13, 1.11, 1.12, 1.1, 1.12];
    expect(judged(slow.slice(0, 1), wide).verdict).toBe('undecided');
    expect(judged(slow, wide).verdict).toBe('regressed');
  });

  test('three fast ones are improved', () => {
    expect(judged([0.75])).toMatchObject({ verdict: 'undecided', reason: 'unconfirmed_improvement' });
    expect(judged([0.75, 0.76, 0.74]).verdict).toBe('improved');
  });

  test('one disturbed run on either side neither decides nor hides', () => {
    const disturbed = runsOf(
      'h',
      NOISE.map((value, i) => (i === 7 ? 2 : value)),
    );
    expect(judged([1.25, 1.24, 1.26], disturbed).verdict).toBe('regressed');
    expect(judged([2, 1.0, 1.01, 0.99, 1.0]).verdict).not.toBe('regressed');
    expect(judged([1.3, 1.29, 0.7, 1.31, 1.3, 1.3, 1.29, 1.3]).verdict).toBe('regressed');
  });

  test('a run whose client was saturated is no evidence', () => {
    const runs = runsOf('n', [1.5, 1.4, 1.45, 1.4], 100);
    const busy = runs.map((run, i) => (i === 1 ? { ...run, client: 'saturated' as const } : run));
    expect(judgeAgainstHistory(HISTORY, busy, { rules: ONE }).window.runs.b).toEqual(['n0', 'n2', 'n3']);
  });

  test('the order is that of the starts', () => {
    const runs = runsOf('n', [1.0, 1.0, 1.5], 100);
    expect(judgeAgainstHistory([...HISTORY].reverse(), [...runs].reverse(), { rules: ONE }).window.runs.b).toEqual([
      'n2',
    ]);
  });

  test('a judged run that was accepted already is not its own baseline', () => {
    const runs = runsOf('n', [1.5], 100);
    expect(judgeAgainstHistory([...HISTORY, ...runs], runs, { rules: ONE }).window.runs.a).not.toContain('n0');
  });
});

test('only the last 20 accepted runs are the baseline', () => {
  const found = judged([1.5], runsOf('h', [...new Array<number>(30).fill(3), ...NOISE]));
  expect(found.verdict).toBe('suspect');
  expect(found.window.runs.a).toHaveLength(20);
});

test('a level that was accepted anew is the normal one, and the scatter of the runs before it still counts', () => {
  const runs = [...HISTORY.slice(0, 15), ...runsOf('m', [1.3, 1.31, 1.29], 50)];
  const levels = new Map([0, 1, 2].map((i) => [`m${i}`, 1]));
  const options = { rules: ONE, levels };
  expect(judgeAgainstHistory(runs, runsOf('n', [1.3, 1.3, 1.31], 100), options).verdict).not.toBe('regressed');
  expect(judgeAgainstHistory(runs, runsOf('n', [1.0, 1.0, 1.01], 100), options).verdict).toBe('improved');
});

test('a pinned anchor catches the drift that the window follows', () => {
  const drifted = HISTORY.map((run) => ({
    ...run,
    figures: run.figures.map((each) => ({ ...each, value: Number(each.value) * 1.2 })),
  }));
  const runs = runsOf('n', [1.21, 1.19, 1.2], 100);
  expect(judgeAgainstHistory(drifted, runs, { rules: ONE }).verdict).toBe('unchanged');
  const found = judgeAgainstHistory(drifted, runs, { rules: ONE, anchor: runsOf('p', NOISE, -100) });
  expect(found).toMatchObject({
    verdict: 'regressed',
    window: { verdict: 'unchanged' },
    anchor: { verdict: 'regressed' },
  });
  expect(found.sentence).toMatch(/^Against the pinned runs: /);
});

test('runs that resemble the one before decide less: in an order like theirs chance makes such three as well', () => {
  const values = NOISE.map((value) => 1 + 3 * (value - 1));
  const slowly = values.toSorted((x, y) => x - y);
  const rising = [...slowly.filter((_, i) => i % 2 === 0), ...slowly.filter((_, i) => i % 2 === 1).reverse()];
  const verdicts = [values, rising].map((each) => judged([1.16, 1.15, 1.17], runsOf('h', each)).verdict);
  expect(verdicts).toEqual(['regressed', 'undecided']);
});
