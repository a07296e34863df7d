import type { CompareResponse, MeasureResponse } from '../../../../core/api/comparison.ts';
import type { RunResponse } from '../../../../core/api/runs.ts';
import { runSummary } from '../../../../core/api/testing/run-summary.ts';
import { loadRows } from './AchievedLoad.tsx';
import { columnsOf, configurationDifferences } from './ConfigurationDifferences.tsx';
import { effectAxis, placeOf, effectText, intervalText } from './EffectPlot.tsx';
import { statisticName } from '../../components/measure-name.ts';
import { notableMeasures } from './MeasureVerdicts.tsx';
import { rollingMedian } from './RequestsOverTime.tsx';
import { markOf, shownIds } from './shown-runs.ts';

test('only what differs, with what is unknown as such', () => {
  const response = (concurrency: number | null) =>
    ({
      run: { comparison_key: { model: 'm', load: { concurrency } }, target: { origin: 'http://x' } },
      summary: runSummary(),
    }) as unknown as RunResponse;
  expect(configurationDifferences([response(4), response(null)])).toEqual([
    { name: 'load.concurrency', texts: ['4', '–'] },
  ]);
});

test('runs of a set that are configured alike share a column', () => {
  const runs = ['A1', 'A2', 'B1'].map((mark) => ({ mark }));
  const difference = (...texts: string[]) => ({ name: 'x', texts });
  expect(columnsOf(runs, [difference('1', '1', '2')])).toEqual([
    { mark: 'A', index: 0 },
    { mark: 'B', index: 2 },
  ]);
  expect(columnsOf(runs, [difference('1', '1', '2'), difference('1', '2', '2')]).map(({ mark }) => mark)).toEqual(
    runs.map(({ mark }) => mark)
  );
});

test('a load that differs is marked where it was planned, and not in windows that servers recorded', () => {
  const run = (mark: string, tool: string, origin: string, mean: number) => {
    const isl = { kind: 'distribution', measure: 'input_sequence_length', population: 'ok', clock: 'sent' };
    const result = { requests: { ok: null }, measures: [{ ...isl, origin, definition: 'd', mean }] };
    return { mark, response: { run: { tool: { name: tool } }, result } as unknown as RunResponse };
  };
  const rows = (tool: string, origin: string) => loadRows([run('A1', tool, origin, 100), run('B1', tool, origin, 104)]);
  expect([rows('llmbench', 'client'), rows('prometheus', 'server')]).toEqual([
    [expect.objectContaining({ values: [100, 104], differs: true })],
    [expect.objectContaining({ values: [100, 104], differs: false })],
  ]);
});

test('the median of each stretch, a stretch without points is a gap', () => {
  expect(rollingMedian([0, 1, 2, 9, 10], [5, 1, 3, 7, 9], 2)).toEqual({ x: [2.5, 7.5], y: [3, 8] });
  expect(rollingMedian([0, 10], [1, 2], 3).y).toEqual([1, null, 2]);
  expect(rollingMedian([], [], 3)).toEqual({ x: [], y: [] });
});

describe('the axis of effects', () => {
  const effect = (low: number | null, estimate: number | null, high: number | null, margin = 0.05) => ({
    effect: { low, estimate, high },
    margin,
  });

  test('has no change in the middle, and doubling as far from it as halving', () => {
    const axis = effectAxis([effect(1.8, 2, 2.2)]);
    expect(placeOf(axis, 1)).toBe(0.5);
    expect(placeOf(axis, 2) - 0.5).toBeCloseTo(0.5 - placeOf(axis, 0.5));
  });

  test('holds every estimate, margin and usual interval', () => {
    const axis = effectAxis([effect(0.9, 1.1, 1.4), effect(0.99, 1, 1.01, 0.25)]);
    for (const ratio of [0.9, 1.4, 1.25, 1 / 1.25]) {
      expect(placeOf(axis, ratio)).toBeGreaterThan(0);
      expect(placeOf(axis, ratio)).toBeLessThan(1);
    }
  });

  test('is not stretched by an interval that runs leave open: its end is off the axis', () => {
    const axis = effectAxis([effect(0, 1.04, null), effect(1.01, 1.02, 30)]);
    expect(axis.most).toBeLessThan(1.3);
    expect(placeOf(axis, 0)).toBe(-Infinity);
    expect(placeOf(axis, 30)).toBeGreaterThan(1);
  });

  test('has round ticks that are on it', () => {
    expect(effectAxis([effect(1.02, 1.08, 1.14)]).ticks).toEqual([0.9, 1, 1.1]);
    for (const estimate of [1.000001, 1.3, 3, 40]) {
      const axis = effectAxis([effect(estimate, estimate, estimate, 1e-6)]);
      expect(axis.ticks).toHaveLength(3);
      expect(axis.ticks.every((tick) => placeOf(axis, tick) >= 0 && placeOf(axis, tick) <= 1)).toBe(true);
    }
  });

  test('without an effect it shows the margin', () => {
    expect(effectAxis([{ effect: null, margin: 0.05 }]).most).toBeGreaterThan(1.05);
  });
});

test('an end that is null is infinite, and an interval that holds everything says nothing', () => {
  expect(effectText({ low: 1, estimate: 1.123, high: 1.2 })).toBe('+12.3 %');
  expect(effectText({ low: 1, estimate: null, high: null })).toBe('+∞');
  expect(effectText(null)).toBe('–');
  expect(intervalText({ low: 0.95, estimate: 1.1, high: null })).toBe('−5 % to +∞');
  expect(intervalText({ low: 0, estimate: 1.1, high: null })).toBe('–');
});

describe('of the measures', () => {
  const verdict = (change: Partial<MeasureResponse>): MeasureResponse =>
    ({
      measure: 'time_to_first_token',
      stat: 'p50',
      clock: 'sent',
      population: 'ok',
      origin: 'client',
      gating: false,
      effect: { low: 1, estimate: 1, high: 1 },
      p: null,
      ...change,
    }) as MeasureResponse;
  const p = (adjusted: number) => ({ raw: adjusted, adjusted, adjustment: 'benjamini_hochberg' as const });

  test('those that decide come first, then those that changed most clearly', () => {
    const measures = [
      verdict({ measure: 'gate', gating: true, effect: null }),
      ...Array.from({ length: 12 }, (_, i) => verdict({ measure: `m${i}`, p: p(1 - i / 100) })),
      verdict({ measure: 'all', population: 'all', p: p(0) }),
      verdict({ measure: 'unknown', effect: null, p: p(0) }),
    ];
    expect(notableMeasures({ measures }).map(({ measure }) => measure)).toEqual([
      ...['gate', 'm11', 'm10', 'm9', 'm8', 'm7', 'm6', 'm5', 'm4'],
    ]);
  });

  test('names say what distinguishes them', () => {
    expect(statisticName(verdict({ stat: 'p99_9' }))).toBe('Time to first token p99.9');
    expect(statisticName(verdict({ clock: 'due', population: 'all' }))).toBe(
      'Time to first token from the due time p50 (failed requests as infinitely slow)'
    );
    expect(statisticName(verdict({ measure: 'error_ratio', stat: 'value', population: 'all' }))).toBe('Error ratio');
  });
});

test('the first three runs of a set are shown, and a mark is the place in the set', () => {
  const comparison: Pick<CompareResponse, 'runs'> = { runs: { a: ['r1', 'r2', 'r3', 'r4'], b: ['r5'] } };
  expect(shownIds(comparison)).toEqual(['r1', 'r2', 'r3', 'r5']);
  expect(['r4', 'r5', 'other'].map((id) => markOf(comparison, id))).toEqual(['A4', 'B1', null]);
});
