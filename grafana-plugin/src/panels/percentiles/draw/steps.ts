import type { PercentileSeries } from '../compute/percentile-series.ts';

/** What is drawn over one step of time: from `startMs` to `endMs` all values stay as they are. */
export interface Step {
  startMs: number;
  endMs: number;
  estimate: number;
  /** The percentile lies beyond `estimate`, the last finite bound. */
  overflow: boolean;
  low: number;
  high: number;
}

/**
 * The steps of one percentile, in stretches that touch each other: where a sample is missing or nothing was observed,
 * one stretch ends and nothing is drawn. An answer for the whole range is one step over the visible range.
 */
export function stretches(series: PercentileSeries, index: number, visible: readonly [number, number]): Step[][] {
  const { points, source } = series;
  const result: Step[][] = [];
  let previousMs = NaN;
  for (const point of points) {
    const percentile = point.percentiles[index];
    if (!percentile) {
      continue;
    }
    const whole = source.kind === 'total';
    const startMs = whole ? visible[0] : point.endMs - source.stepMs;
    const endMs = whole ? visible[1] : point.endMs;
    const { estimate, overflow, low, high } = percentile;
    const step = { startMs, endMs, estimate, overflow, low, high };
    if (Math.abs(startMs - previousMs) <= source.stepMs / 2) {
      result.at(-1)?.push(step);
    } else {
      result.push([step]);
    }
    previousMs = endMs;
  }
  return result;
}
