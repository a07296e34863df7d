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
  test('beyond all of 20 and by the margin is suspect, never regressed', () => {
    const found = judged([1.5]);
    expect(found).toMatchObject({
      verdict: 'suspect',
      reason: 'unconfirmed_regression',
      needs: { design: 'confirm', further: 2 },
      anchor: null,
    });
    expect(found.window.measures[0]).toMatchObject({ method: 'rank_prediction', runs: { a: 20, b: 1 } });
    expect(found.window.measures[0]?.p).toEqual({ raw: 1 / 21, adjusted: 1 / 21, adjustment: 'none' });
    expect(found.window.measures[0]?.confidence).toBeCloseTo(19 / 21, 12);
    expect(found.sentence).toBe(
      'Suspect: time to first token p50 is worse than the history; further runs have to confirm it.',
    );
  });

  test('beyond all of 20 by less than the margin is not', () => expect(judged([1.04]).verdict).toBe('undecided'));

  test('in the middle of a history that is quieter than the margin is unchanged', () => {
    expect(judged([1.0]).verdict).toBe('unchanged');
  });

  test('faster than all is an improvement only when it is confirmed', () => {
    expect(judged([0.7])).toMatchObject({ verdict: 'undecided', reason: 'unconfirmed_improvement' });
    expect(judged([0.7, 0.7]).verdict).toBe('improved');
  });

  test('5 to 18 runs: a t prediction interval, named as what it is', () => {
    const found = judged([1.5], HISTORY.slice(0, 18));
    expect(found.verdict).toBe('suspect');
    expect(found.window.measures[0]).toMatchObject({ method: 't_prediction', runs: { a: 18, b: 1 } });
    expect(judged([1.5], HISTORY.slice(0, 5)).verdict).toBe('suspect');
  });

  test('fewer than 5 say how many are missing', () => {
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

describe('confirmation', () => {
  test('two further slow runs make it regressed, without the one that raised the suspicion', () => {
    const found = judged([1.5, 1.4, 1.45]);
    expect(found.verdict).toBe('regressed');
    expect(found.window).toMatchObject({ left_out: 'n0', runs: { b: ['n1', 'n2'] } });
    expect(found.window.measures[0]).toMatchObject({ method: 'rank_sum_exact', runs: { a: 20, b: 2 } });
    expect(found.window.measures[0]?.effect?.estimate).toBeCloseTo(1.425, 1);
  });

  test('it suffices for five gating measures', () =>
    expect(judged([1.5, 1.4, 1.45], HISTORY, FIVE).verdict).toBe('regressed'));

  test('one is not enough, and the suspicion stays', () => {
    expect(judged([1.5, 1.4])).toMatchObject({
      verdict: 'suspect',
      needs: { design: 'confirm', further: 1 },
      window: { left_out: 'n0' },
    });
  });

  test('two runs as before take the suspicion away', () => expect(judged([1.5, 1.0, 1.0]).verdict).toBe('unchanged'));

  test('the order is that of the starts', () => {
    const runs = runsOf('n', [1.5, 1.4, 1.45], 100);
    expect(judgeAgainstHistory([...HISTORY].reverse(), [...runs].reverse(), { rules: ONE }).window.left_out).toBe('n0');
  });

  test('several runs without suspicion are all compared', () => {
    expect(judged([1.0, 1.01, 0.99]).window).toMatchObject({
      verdict: 'unchanged',
      left_out: null,
      runs: { b: ['n0', 'n1', 'n2'] },
    });
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

describe('a history whose runs may depend on each other', () => {
  const waves = runsOf(
    'h',
    Array.from({ length: 40 }, (_, i) => 1 + 0.02 * Math.sin(i / 3)),
  );

  test('seen in the order of the runs: judged as a series, in which a jump counts and an excursion does not', () => {
    expect(judged([1.09], waves)).toMatchObject({
      verdict: 'suspect',
      window: { measures: [{ method: 'autoregression' }, {}, {}, {}, {}] },
    });
    const confirmed = judged([1.09, 1.08, 1.09, 1.08], waves);
    expect(confirmed).toMatchObject({ verdict: 'regressed', window: { left_out: 'n0' } });
    expect(confirmed.window.measures[0]).toMatchObject({ method: 'autoregression', runs: { a: 20, b: 3 } });
    expect(judged([1.0, 1.0], waves).verdict).not.toBe('regressed');
  });

  test('against pinned runs, which the new ones do not follow, it is withheld, and pairs are proposed', () => {
    const options = { rules: ONE, anchor: waves };
    const found = judgeAgainstHistory(runsOf('h', NOISE), runsOf('n', [1.09, 1.09, 1.09, 1.09], 100), options);
    expect(found.anchor).toMatchObject({
      ...{ verdict: 'undecided', reason: 'dependent_history', needs: { design: 'pairs', pairs: 6, further: 6 } },
    });
  });

  test('values that buckets leave open are withheld as well', () => {
    const open = waves.map((run) => ({
      ...run,
      figures: run.figures.map((each) => ({
        ...each,
        value: [Number(each.value), Number(each.value) + 1e-6] as const,
      })),
    }));
    expect(judged([1.09], open)).toMatchObject({ verdict: 'undecided', reason: 'dependent_history' });
  });

  test('fewer than 10 runs cannot show it: they raise a suspicion and do not confirm it', () => {
    const short = HISTORY.slice(0, 8);
    expect(judged([1.08], short).verdict).toBe('suspect');
    expect(judged([1.08, 1.08, 1.09, 1.08], short)).toMatchObject({
      verdict: 'undecided',
      reason: 'short_history',
      needs: { design: 'baseline', further: 2 },
    });
  });

  test('a change far beyond scatter and margin is no excursion, and is not withheld', () => {
    expect(judged([1.5, 1.4, 1.45], waves).verdict).toBe('regressed');
    expect(judged([1.5, 1.4, 1.45, 1.4], HISTORY.slice(0, 8)).verdict).toBe('regressed');
  });
});
