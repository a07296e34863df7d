import React, { useId } from 'react';
import type { Scale } from '../../../../../core/chart/scale.ts';
import { Hatch } from './Hatch.tsx';
import type { PercentileLine } from './lines.ts';
import { bandPath, edgePath, linePath, overflowPath } from './paths.ts';
import { stepsOf } from './steps.ts';
import { Whiskers, whiskers } from './Whiskers.tsx';

interface Props {
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
export function PercentileShape({ line, x, y, showInterval, showLine, whiskerLane }: Props) {
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
