import { fractionBelow } from '../../../../../core/histogram/bounds.ts';
import type { PercentileSeries } from './percentile-series.ts';

/** The share of the observations that met a service level objective, 0 to 1. */
export interface SloShare {
  /** Linear inside the bucket of the objective, as Prometheus' `histogram_fraction`. */
  estimate: number;
  /** Bounds of the share; equal when the objective is a bucket bound. */
  low: number;
  high: number;
  /** Over rates nothing is promised: the shares are about these. */
  certain: boolean;
}

/** The share of the whole range at or below the objective; null when nothing was observed. */
export function sloShare({ total, source }: Pick<PercentileSeries, 'total' | 'source'>, slo: number): SloShare | null {
  const share = fractionBelow(slo, total);
  return share && { ...share, certain: source.trueCounts };
}
