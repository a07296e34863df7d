import React from 'react';
import type { Scale } from '../../../../../core/chart/scale.ts';
import { samplingInterval } from '../compute/sampling.ts';
import type { PercentileLine } from './lines.ts';

/** A sampling interval at one point of a line, in pixels. */
interface Whisker {
  x: number;
  low: number;
  estimate: number;
  /** Null where there are too few observations for an upper end. */
  high: number | null;
}

interface Props {
  whiskers: readonly Whisker[];
  color: string;
}

const CAP = 4;
const ARROW = 9;

/** Sampling intervals as whiskers; an arrow instead of a cap where there is no upper end. */
export function Whiskers({ whiskers, color }: Props) {
  return (
    <g data-part="whiskers" stroke={color} strokeWidth={1.2} fill="none" strokeOpacity={0.9}>
      {whiskers.map(({ x, low, estimate, high }) => {
        const tip = estimate - 2 * ARROW;
        const end =
          high === null
            ? `V${tip}M${x - CAP},${tip + CAP}L${x},${tip}L${x + CAP},${tip + CAP}`
            : `V${high}M${x - CAP},${high}H${x + CAP}`;
        return <path key={x} d={`M${x - CAP},${low}H${x + CAP}M${x},${low}${end}`} />;
      })}
    </g>
  );
}

/** Distance of two whiskers of a line, in pixels. */
const APART = 44;

/** Whiskers along a line of raw counts, far enough apart to be distinguishable; `lane` shifts those of each line. */
export function whiskers({ series, index }: PercentileLine, lane: number, x: Scale, y: Scale): Whisker[] {
  const { points, source } = series;
  const found: Whisker[] = [];
  let next = x.range[0] + 6 + lane;
  for (let i = 0; i < points.length; i++) {
    const at = x((points.endMs[i] ?? NaN) - source.stepMs / 2);
    const point = at < next || at > x.range[1] ? undefined : points.at(i);
    const percentile = point?.percentiles[index];
    if (!point || !percentile || percentile.overflow || point.n === null) {
      continue;
    }
    const sampling = samplingInterval(percentile.quantile, series.histogramOf(point), source.exponential);
    if (sampling) {
      const high = sampling.high === Infinity ? null : y(sampling.high);
      found.push({ x: at, low: y(sampling.low), estimate: y(percentile.estimate), high });
      next = at + APART;
    }
  }
  return found;
}
