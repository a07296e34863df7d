import React, { useId } from 'react';
import { px } from '../../../../../../core/chart/path.ts';
import type { Scale } from '../../../../../../core/chart/scale.ts';
import { lowerEdge, upperEdge, type ClassicHistogram } from '../../../../../../core/histogram/classic-histogram.ts';
import type { PercentileSeries } from '../../compute/percentile-series.ts';
import { estimateOf } from '../../compute/percentile.ts';
import { Hatch } from '../Swatch.tsx';
import type { PercentileLine } from '../lines.ts';

/** One bucket of a distribution: between its edges the share at or below a value rises from `from` to `to`. */
export interface CdfStep {
  /** -Infinity where the first bucket has no lower edge. */
  low: number;
  /** Infinity in the overflow bucket. */
  high: number;
  /** Shares, 0 to 1. */
  from: number;
  to: number;
}

/** The cumulative distribution as a band of steps: exact at the bucket bounds, and bounded by the step between them. */
export function cdfSteps({ bounds, counts }: ClassicHistogram): CdfStep[] {
  const n = counts.at(-1) ?? 0;
  if (!(n > 0)) {
    return [];
  }
  let from = 0;
  return bounds.map((_, i) => {
    // Counts that go down, as rates may by rounding, are raised to the highest before them.
    const to = Math.min(1, Math.max(from, (counts[i] ?? 0) / n));
    const step = { low: lowerEdge(bounds, i), high: upperEdge(bounds, i), from, to };
    from = to;
    return step;
  });
}

/** Closed SVG path of the band: a rectangle per bucket that holds something, from its lower to its upper edge. */
function cdfBandPath(steps: readonly CdfStep[], x: Scale, y: Scale): string {
  const at = within(x);
  return steps
    .filter(({ from, to, high }) => to > from && high !== Infinity)
    .map(({ low, high, from, to }) => `M${at(low)},${px(y(from))}H${at(high)}V${px(y(to))}H${at(low)}Z`)
    .join('');
}

/** The overflow bucket: from the last finite bound to the edge of the drawing. */
function cdfOverflowPath(steps: readonly CdfStep[], x: Scale, y: Scale): string {
  const last = steps.at(-1);
  if (!last || last.high !== Infinity || last.to <= last.from) {
    return '';
  }
  return `M${within(x)(last.low)},${px(y(last.from))}H${x.range[1]}V${px(y(last.to))}H${within(x)(last.low)}Z`;
}

/** Where the band has no height: the share is known exactly. */
function cdfKnownPath(steps: readonly CdfStep[], x: Scale, y: Scale): string {
  const at = within(x);
  return steps
    .filter(({ from, to, low, high }) => to === from && Math.max(low, x.domain[0]) < Math.min(high, x.domain[1]))
    .map(({ low, high, to }) => `M${at(low)},${px(y(to))}H${at(high)}`)
    .join('');
}

/** Prometheus' estimate for every percent, as a line; it ends at the overflow bucket. */
function cdfEstimatePath({ total, source }: PercentileSeries, steps: readonly CdfStep[], x: Scale, y: Scale): string {
  const last = steps.at(-1);
  const end = last && last.high === Infinity ? last.from : 1;
  const shares = new Set(Array.from({ length: 101 }, (_, i) => i / 100).concat(steps.map(({ to }) => to)));
  const first = steps.find(({ from, to }) => to > from);
  // Where the distribution begins nothing is at or below, and there is no percentile.
  let path = first && first.high !== Infinity ? `M${within(x)(first.low)},${px(y(0))}` : '';
  for (const share of [...shares].sort((a, b) => a - b)) {
    const value = share > 0 && share <= end ? estimateOf(share, total, source.exponential) : NaN;
    if (Number.isFinite(value)) {
      path += `${path === '' ? 'M' : 'L'}${within(x)(value)},${px(y(share))}`;
    }
  }
  return path;
}

/** Pixels of a value, kept inside the drawing. */
function within(x: Scale): (value: number) => number {
  const [left, right] = x.range;
  return (value) =>
    px(value === Infinity ? right : value === -Infinity ? left : Math.min(right, Math.max(left, x(value))));
}

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
