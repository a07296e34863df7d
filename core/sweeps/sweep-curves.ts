import type { StepValue, Sweep, SweepStep } from './sweep-shape.ts';
import type { SweepFigure, SweepLatency, SweepPercentile } from './sweep-figures.ts';

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
