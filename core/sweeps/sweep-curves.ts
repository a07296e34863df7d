import { pathOf, px } from '../chart/path.ts';
import { placeLabels, type LabelSpace, type PlacedLabel } from '../chart/place-labels.ts';
import { fittedScale, type Scale } from '../chart/scale.ts';
import { objectiveWords } from '../objectives/grammar.ts';
import type { Objective } from '../run/objectives.ts';
import type { SweepFigure, SweepLatency, SweepPercentile } from './sweep-figures.ts';
import type { StepValue, Sweep, SweepStep } from './sweep-shape.ts';

/** A step as a point of a chart; the ranges are over the repeats. */
export interface SweepPoint {
  readonly step: SweepStep;
  readonly x: number;
  readonly y: number;
  readonly xRange: readonly [low: number, high: number];
  readonly yRange: readonly [low: number, high: number];
}

export type Throughput = 'request_throughput' | 'output_token_throughput' | 'total_token_throughput';

/** Throughput against a percentile of a latency, by ascending load; steps that lack one of them are left out. */
export function latencyCurve(
  sweep: Pick<Sweep, 'steps'>,
  throughput: Throughput,
  latency: SweepLatency,
  percentile: SweepPercentile,
): readonly SweepPoint[] {
  return pointsOf(sweep, throughput, `${latency}_${percentile}`);
}

/** Tokens/s per user against tokens/s per GPU, by ascending load; `gpus` > 0. */
export function efficiencyCurve(
  sweep: Pick<Sweep, 'steps'>,
  throughput: Exclude<Throughput, 'request_throughput'>,
  percentile: SweepPercentile,
  gpus: number,
): readonly SweepPoint[] {
  return pointsOf(sweep, `tokens_per_second_per_user_${percentile}`, throughput).map((point) => ({
    ...point,
    y: point.y / gpus,
    yRange: [point.yRange[0] / gpus, point.yRange[1] / gpus],
  }));
}

/** A rate, such as goodput, over the load. */
export function loadCurve(sweep: Pick<Sweep, 'steps'>, figure: SweepFigure): readonly SweepPoint[] {
  return sweep.steps.flatMap((step) => {
    const y = step.values[figure];
    return y === null ? [] : [{ step, x: step.load, y: y.mean, xRange: [step.load, step.load], yRange: range(y) }];
  });
}

function pointsOf({ steps }: Pick<Sweep, 'steps'>, xFigure: SweepFigure, yFigure: SweepFigure): SweepPoint[] {
  return steps.flatMap((step) => {
    const [x, y] = [step.values[xFigure], step.values[yFigure]];
    return x === null || y === null ? [] : [{ step, x: x.mean, y: y.mean, xRange: range(x), yRange: range(y) }];
  });
}

const range = ({ min, max }: StepValue): readonly [low: number, high: number] => [min, max];

/** Above this ratio of the largest to the smallest value an axis may be logarithmic. */
const LOG_RATIO = 20;

/** A sweep as points of a chart, by ascending load. */
export interface MarkedCurve {
  readonly sweep: Pick<Sweep, 'knee' | 'within_objective'>;
  readonly points: readonly SweepPoint[];
}

export interface CurveScales {
  readonly x: Scale;
  readonly y: Scale;
}

/** What an axis of such a chart is fitted to. */
interface CurveAxis {
  /** Pixels of its ends. */
  readonly range: Scale['range'];
  /** Steps, about. */
  readonly ticks: number;
  /** Logarithmic where the values span a wide range. */
  readonly mayBeLog?: boolean | undefined;
}

/** The scales that all points fit on, with their repeats, and limits of y. */
export function curveScales(
  points: readonly SweepPoint[],
  limits: readonly LatencyLimit[],
  { x, y }: { readonly x: CurveAxis; readonly y: CurveAxis },
): CurveScales {
  const fitted = (values: readonly number[], { range, ticks, mayBeLog = false }: CurveAxis): Scale =>
    fittedScale(values, range, ticks, mayBeLog ? LOG_RATIO : Infinity);
  const values = points.flatMap((point) => [point.y, ...point.yRange]);
  return {
    x: fitted(
      points.flatMap((point) => [point.x, ...point.xRange]),
      x,
    ),
    y: fitted([...values, ...limits.map(({ value }) => value)], y),
  };
}

export function curvePath(points: readonly SweepPoint[], { x, y }: CurveScales): string {
  return pathOf(points.map((point) => [x(point.x), y(point.y)] as const));
}

/** From the smallest to the largest repeat of a load, in both directions; empty without repeats. */
export function repeatsPath({ step, ...point }: SweepPoint, { x, y }: CurveScales): string {
  if (step.runs.length < 2) return '';
  const [left, right] = point.xRange.map((value) => px(x(value)));
  const [low, high] = point.yRange.map((value) => px(y(value)));
  return `M${px(x(point.x))},${low}V${high}M${left},${px(y(point.y))}H${right}`;
}

/** Drawn hollow: its objective is not met or undecided. */
export const isOpen = ({ step }: SweepPoint): boolean => step.objective !== null && step.objective !== 'met';

/** The points of the knee and of the largest load within the objectives; undefined where the curve has none. */
export function markedPoints({ sweep, points }: MarkedCurve): { knee?: SweepPoint; within?: SweepPoint } {
  const at = (load: number | null | undefined): SweepPoint | undefined => points.find(({ step }) => step.load === load);
  const [knee, within] = [at(sweep.knee?.load), at(sweep.within_objective?.holds)];
  return { ...(knee && { knee }), ...(within && { within }) };
}

/** The loads beside their points as far as there is room; the marked loads have the choice. */
export function loadLabels(
  curves: readonly MarkedCurve[],
  { x, y }: CurveScales,
  space: LabelSpace,
): readonly (PlacedLabel & { readonly text: string })[] {
  const anchors = curves
    .flatMap((curve) => {
      const { knee, within } = markedPoints(curve);
      return curve.points.map((point) => ({
        ...{ x: x(point.x), y: y(point.y), text: point.step.load.toLocaleString('en-US') },
        first: point === knee || point === within,
      }));
    })
    .sort((a, b) => Number(b.first) - Number(a.first));
  return placeLabels(anchors, anchors, space).flatMap((place, i) =>
    place === null ? [] : [{ ...place, text: anchors[i]?.text ?? '' }],
  );
}

/** A value of a latency that should not be exceeded. */
export interface LatencyLimit {
  readonly value: number;
  readonly text: string;
}

/** The objectives of these percentiles of a latency, and the limits of good requests, each once. */
export function latencyLimits(
  sweeps: readonly Pick<Sweep, 'steps' | 'goodput_limits'>[],
  latency: SweepLatency,
  percentiles: readonly SweepPercentile[],
): LatencyLimit[] {
  const objectives: readonly Objective[] = sweeps.flatMap(({ steps }) => steps.flatMap((step) => step.slos));
  const good = sweeps.flatMap((sweep) => sweep.goodput_limits);
  const limits = [
    ...objectives.filter(({ stat }) => percentiles.some((name) => name === stat)),
    ...good.map((limit) => ({ ...limit, stat: null, comparison: '<=' as const })),
  ].filter(({ measure }) => measure === latency);
  const named = limits.map((each) => ({ value: each.limit, text: objectiveWords(each).replace('<=', '≤') }));
  return [...new Map(named.map((limit) => [limit.text, limit])).values()];
}

/** A point of two quantities that are better when higher. */
export interface Tradeoff {
  readonly x: number;
  readonly y: number;
}

/**
 * The Pareto frontier: the points that no other point reaches in one quantity and exceeds in the other, by ascending x.
 * Equal points are all on it.
 */
export function paretoFrontier<Point extends Tradeoff>(points: readonly Point[]): readonly Point[] {
  const fromRight = [...points].sort((a, b) => b.x - a.x || b.y - a.y);
  const frontier: Point[] = [];
  let best: Point | null = null;
  for (const point of fromRight) {
    if (best === null || point.y > best.y || (point.y === best.y && point.x === best.x)) {
      frontier.push(point);
      best = point;
    }
  }
  return frontier.reverse();
}
