import React, { useId } from 'react';
import type { Scale } from '../../../../../../core/chart/scale.ts';
import { Hatch } from '../Hatch.tsx';
import type { PercentileLine } from '../lines.ts';
import { cdfBandPath, cdfEstimatePath, cdfKnownPath, cdfOverflowPath, within } from './cdf-paths.ts';
import type { CdfStep } from './cdf-steps.ts';

interface Props {
  /** A line of the series; it gives the name. */
  line: PercentileLine;
  color: string;
  steps: readonly CdfStep[];
  x: Scale;
  y: Scale;
}

/** One distribution: the band that is certain to contain it (hatched for rates), the estimate, and the overflow. */
export function CdfShape({ line, color, steps, x, y }: Props) {
  const id = useId().replaceAll(':', '');
  const isBound = line.series.source.trueCounts;
  const overflow = cdfOverflowPath(steps, x, y);
  return (
    <g data-distribution={line.seriesName} data-interval={isBound ? 'bounds' : 'bucket-of-estimate'}>
      {!isBound && <Hatch id={`${id}bucket`} color={color} angle={45} gap={6} />}
      {overflow !== '' && <Hatch id={`${id}overflow`} color={color} angle={-45} gap={4} />}
      <path
        data-part="band"
        d={cdfBandPath(steps, x, y)}
        fill={isBound ? color : `url(#${id}bucket)`}
        fillOpacity={isBound ? 0.22 : 0.6}
        stroke={color}
        strokeOpacity={0.35}
        strokeWidth={0.75}
      />
      {overflow !== '' && <path data-part="overflow" d={overflow} fill={`url(#${id}overflow)`} />}
      <path d={cdfKnownPath(steps, x, y)} stroke={color} strokeWidth={1.75} />
      <path
        data-part="line"
        d={cdfEstimatePath(line.series, steps, x, y)}
        fill="none"
        stroke={color}
        strokeWidth={1.75}
        strokeLinejoin="round"
      />
    </g>
  );
}

interface MarkProps {
  line: PercentileLine;
  x: Scale;
  y: Scale;
  /** Label each percentile beside its mark; with several series, once at the side. */
  named: boolean;
  fontFamily: string;
  background: string;
}

const CAP = 5;

/** A percentile on a distribution: its interval as a bar, its estimate as a dot. */
export function PercentileMark({ line, x, y, named, fontFamily, background }: MarkProps) {
  const percentile = line.series.range?.percentiles[line.index];
  if (!percentile) {
    return null;
  }
  const at = within(x);
  const level = y(percentile.quantile);
  const [low, high] = [at(percentile.low), at(percentile.high)];
  const cap =
    percentile.high === Infinity
      ? `M${high - CAP},${level - CAP}L${high},${level}L${high - CAP},${level + CAP}`
      : `M${high},${level - CAP}V${level + CAP}`;
  return (
    <g data-percentile={line.name}>
      <path
        d={`M${low},${level - CAP}V${level + CAP}M${low},${level}H${high}${cap}`}
        stroke={line.color}
        strokeWidth={2}
        fill="none"
      />
      {!percentile.overflow && (
        <circle cx={at(percentile.estimate)} cy={level} r={4} fill={line.color} stroke={background} strokeWidth={1.5} />
      )}
      {named && (
        <text
          x={low - 6}
          y={level}
          dy="0.35em"
          textAnchor="end"
          fontSize={12}
          fontWeight={500}
          fontFamily={fontFamily}
          fill={line.color}
          stroke={background}
          strokeWidth={3}
          paintOrder="stroke"
        >
          {line.percentile}
        </text>
      )}
    </g>
  );
}
