import { FieldType } from '@grafana/data';
import { linearScale } from '../../../../../core/chart/scale.ts';
import { bandPath, edgePath, linePath, overflowPath, stretchesOf, type Steps } from './paths.ts';
import { OVERFLOW } from '../compute/percentile-points.ts';
import { toggled } from './Legend.tsx';
import { placeLabels } from './EndLabels.tsx';
import { seriesNames } from './lines.ts';
import { timeTicks } from './Axes.tsx';
import type { HistogramSeries } from '../input/histogram-series.ts';

const x = linearScale([0, 10], [0, 100]);
const y = linearScale([0, 4], [40, 0]);
interface Step {
  startMs: number;
  estimate: number;
  overflow: boolean;
  low: number;
  high: number;
}
const step = (startMs: number, part: Partial<Step>): Step => {
  return { startMs, estimate: 1, overflow: false, low: 0, high: 2, ...part };
};
/** Steps of one millisecond. */
function columns(...steps: Step[]): Steps {
  const startMs = steps.map((one) => one.startMs);
  const endMs = startMs.map((start) => start + 1);
  return {
    startMs,
    endMs,
    estimate: steps.map(({ estimate }) => estimate),
    low: steps.map(({ low }) => low),
    high: steps.map(({ high }) => high),
    flags: steps.map(({ overflow }) => (overflow ? OVERFLOW : 0)),
    stretches: stretchesOf(startMs, endMs, 1),
  };
}

describe('paths', () => {
  test('a line goes in steps and ends at a gap', () => {
    const steps = columns(step(0, { estimate: 1 }), step(1, { estimate: 2 }), step(5, { estimate: 3 }));
    expect(linePath(steps, x, y)).toBe('M0,30H10V20H20M50,10H60');
  });

  test('a line stops where the percentile is beyond the last bound', () => {
    const steps = columns(step(0, {}), step(1, { estimate: 2, overflow: true, low: 2, high: Infinity }), step(2, {}));
    expect(linePath(steps, x, y)).toBe('M0,30H10M20,30H30');
    expect(overflowPath(steps, x, y)).toBe('M10,20H20V0H10Z');
  });

  test('a band surrounds its intervals; one without an upper edge ends at the top', () => {
    const steps = columns(step(0, { low: 1, high: 2 }), step(1, { low: 2, high: Infinity }));
    expect(bandPath(steps, x, y)).toBe('M0,20H10V0H20V20H10V30H0Z');
    expect(edgePath(steps, x, y)).toBe('M0,20H10V0H20M0,30H10V20H20');
  });

  test('each stretch has a band of its own', () => {
    const steps = columns(step(0, {}), step(4, {}));
    expect(bandPath(steps, x, y)).toBe('M0,20H10V40H0ZM40,20H50V40H40Z');
  });
});

describe('ticks', () => {
  test('times are round in the time zone of the dashboard', () => {
    const from = Date.UTC(2026, 10, 21, 19, 35, 13);
    const texts = (zone: string, span: number) => timeTicks(from, from + span, 4, zone).map(({ text }) => text);
    expect(texts('utc', 20_000)).toEqual(['19:35:15', '19:35:20', '19:35:25', '19:35:30']);
    expect(texts('Asia/Kolkata', 4 * 3_600_000)).toEqual(['02:00', '03:00', '04:00', '05:00']);
  });
});

test('series are named by what differs', () => {
  const series = (labels: Record<string, string>, refId = 'A', buckets = 3): HistogramSeries => ({
    refId,
    metric: 'x',
    labels,
    kind: 'counters',
    trueCounts: true,
    exponential: false,
    bounds: new Array<number>(buckets).fill(1),
    stepMs: 1000,
    times: [],
    counts: new Float64Array(),
    sums: null,
    gridChangedMs: null,
    field: { name: 'Value', type: FieldType.number, config: {}, values: [] },
  });
  expect(seriesNames([series({ job: 'a', run_id: '1' })])).toEqual(['']);
  expect(seriesNames([series({ job: 'a', run_id: '1' }), series({ job: 'a', run_id: '2' })])).toEqual(['1', '2']);
  expect(seriesNames([series({ a: '1', b: '1' }), series({ a: '2', b: '2' })])).toEqual(['a=1, b=1', 'a=2, b=2']);
  expect(seriesNames([series({}), series({}, 'B')])).toEqual(['A', 'B']);
  expect(seriesNames([series({}), series({}, 'A', 5)])).toEqual(['(3 buckets)', '(5 buckets)']);
});

describe('a click in the legend', () => {
  const keys = ['a', 'b', 'c'];

  test('shows that line alone, and all again', () => {
    expect([...toggled(new Set(), keys, 'b', false)]).toEqual(['a', 'c']);
    expect([...toggled(new Set(['a', 'c']), keys, 'b', false)]).toEqual([]);
  });

  test('with Ctrl switches that line only', () => {
    expect([...toggled(new Set(), keys, 'b', true)]).toEqual(['b']);
    expect([...toggled(new Set(['b']), keys, 'b', true)]).toEqual([]);
  });
});

describe('names behind the lines', () => {
  const tops = (labels: Array<[left: number, top: number]>) =>
    placeLabels(
      labels.map(([left, top]) => ({ left, top })),
      100
    ).map(({ top }) => top);

  test('those with room stay, those without move apart', () => {
    expect(
      tops([
        [0, 10],
        [0, 50],
      ])
    ).toEqual([10, 50]);
    expect(
      tops([
        [0, 10],
        [0, 12],
        [0, 14],
      ])
    ).toEqual([10, 23, 36]);
    expect(
      tops([
        [0, 10],
        [80, 12],
      ])
    ).toEqual([10, 12]);
  });

  test('none leaves the drawing at its lower edge', () => {
    expect(
      tops([
        [0, 95],
        [0, 96],
        [0, 97],
      ])
    ).toEqual([74, 87, 100]);
  });
});
