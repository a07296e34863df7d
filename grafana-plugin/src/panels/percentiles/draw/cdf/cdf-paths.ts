import { px } from '../../../../../../core/chart/path.ts';
import type { Scale } from '../../../../../../core/chart/scale.ts';
import { estimateOf } from '../../compute/percentile.ts';
import type { PercentileSeries } from '../../compute/percentile-series.ts';
import type { CdfStep } from './cdf-steps.ts';

/** Closed SVG path of the band: a rectangle per bucket that holds something, from its lower to its upper edge. */
export function cdfBandPath(steps: readonly CdfStep[], x: Scale, y: Scale): string {
  const at = within(x);
  return steps
    .filter(({ from, to, high }) => to > from && high !== Infinity)
    .map(({ low, high, from, to }) => `M${at(low)},${px(y(from))}H${at(high)}V${px(y(to))}H${at(low)}Z`)
    .join('');
}

/** The overflow bucket: from the last finite bound to the edge of the drawing. */
export function cdfOverflowPath(steps: readonly CdfStep[], x: Scale, y: Scale): string {
  const last = steps.at(-1);
  if (!last || last.high !== Infinity || last.to <= last.from) {
    return '';
  }
  return `M${within(x)(last.low)},${px(y(last.from))}H${x.range[1]}V${px(y(last.to))}H${within(x)(last.low)}Z`;
}

/** Where the band has no height: the share is known exactly. */
export function cdfKnownPath(steps: readonly CdfStep[], x: Scale, y: Scale): string {
  const at = within(x);
  return steps
    .filter(({ from, to, low, high }) => to === from && Math.max(low, x.domain[0]) < Math.min(high, x.domain[1]))
    .map(({ low, high, to }) => `M${at(low)},${px(y(to))}H${at(high)}`)
    .join('');
}

/** Prometheus' estimate for every percent, as a line; it ends at the overflow bucket. */
export function cdfEstimatePath(
  { total, source }: PercentileSeries,
  steps: readonly CdfStep[],
  x: Scale,
  y: Scale
): string {
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
export function within(x: Scale): (value: number) => number {
  const [left, right] = x.range;
  return (value) =>
    px(value === Infinity ? right : value === -Infinity ? left : Math.min(right, Math.max(left, x(value))));
}
