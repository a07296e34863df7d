import React, { useId } from 'react';
import type { Scale } from '../../../../../core/chart/scale.ts';
import { samplingInterval } from '../compute/percentile.ts';
import { Hatch } from './Swatch.tsx';
import type { PercentileLine } from './lines.ts';
import { bandPath, edgePath, linePath, overflowPath, stepsOf } from './paths.ts';

/** A sampling interval at one point of a line, in pixels. */
interface Whisker {
  x: number;
  low: number;
  estimate: number;
  /** Null where there are too few observations for an upper end. */
  high: number | null;
}

interface WhiskersProps {
  whiskers: readonly Whisker[];
  color: string;
}

const CAP = 4;
const ARROW = 9;

/** Sampling intervals as whiskers; an arrow instead of a cap where there is no upper end. */
function Whiskers({ whiskers, color }: WhiskersProps) {
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
function whiskers({ series, index }: PercentileLine, lane: number, x: Scale, y: Scale): Whisker[] {
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

interface PercentileShapeProps {
  line: PercentileLine;
  x: Scale;
  y: Scale;
  showInterval: boolean;
  /** False where the line itself is on the canvas of `ManyLines`. */
  showLine: boolean;
  /** Horizontal offset of this line's whiskers, in pixels; null when none are drawn. */
  whiskerLane: number | null;
}

/**
 * The interval, the estimate and the overflow of one percentile. A true bound is a plain shade; the bucket of an
 * estimate guarantees less and is hatched between dashed edges.
 */
export function PercentileShape({ line, x, y, showInterval, showLine, whiskerLane }: PercentileShapeProps) {
  const id = useId().replaceAll(':', '');
  const { color, dash, series, index, name } = line;
  const steps = stepsOf(series, index, x.domain as [number, number]);
  const overflow = overflowPath(steps, x, y);
  const isBound = series.source.trueCounts;
  return (
    <g data-percentile={name} data-interval={isBound ? 'bounds' : 'bucket-of-estimate'}>
      {!isBound && <Hatch id={`${id}bucket`} color={color} angle={45} gap={6} />}
      {overflow !== '' && <Hatch id={`${id}overflow`} color={color} angle={-45} gap={4} />}
      {showInterval && (
        <path
          data-part="band"
          d={bandPath(steps, x, y)}
          fill={isBound ? color : `url(#${id}bucket)`}
          fillOpacity={isBound ? 0.2 : 0.6}
        />
      )}
      {showInterval && !isBound && (
        <path d={edgePath(steps, x, y)} fill="none" stroke={color} strokeOpacity={0.7} strokeDasharray="3 3" />
      )}
      {overflow !== '' && <path data-part="overflow" d={overflow} fill={`url(#${id}overflow)`} />}
      {showLine && (
        <path
          data-part="line"
          d={linePath(steps, x, y)}
          fill="none"
          stroke={color}
          strokeWidth={1.75}
          strokeLinejoin="round"
          strokeDasharray={dash}
        />
      )}
      {whiskerLane !== null && isBound && <Whiskers whiskers={whiskers(line, whiskerLane, x, y)} color={color} />}
    </g>
  );
}
