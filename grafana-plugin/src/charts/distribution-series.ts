import type { DistributionResponse } from '../../../core/api/run-data.ts';
import type { XySeries } from './xy-series.ts';

/** An exact distribution as steps, named with its number of values; nothing when it has none. */
export function distributionSeries(
  { values, share, n }: Pick<DistributionResponse, 'values' | 'share' | 'n'>,
  { name, color }: Pick<XySeries, 'name' | 'color'>
): XySeries[] {
  return n > 0 ? [{ name: `${name}, n = ${n.toLocaleString('en-US')}`, color, kind: 'step', x: values, y: share }] : [];
}
