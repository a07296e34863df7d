import { PERCENTILES, PERCENTILE_NAMES } from '../../core/stats/percentiles.ts';
import type { PercentileName } from '../../core/stats/percentiles.ts';
import type { ToldStatistics } from './check-statistics.ts';
import type { Fields } from './fields.ts';
import type { StatedStatistics } from './stated-measures.ts';

const SECONDS_PER_MS = 1e-3;
const STATISTIC = /^(?:(mean|median|std|min|max)|p(\d+(?:\.\d+)?))$/;

/**
 * The statistics that vLLM's and SGLang's benchmark write as `mean_ttft_ms`, `p99.9_ttft_ms`, …, in seconds; null when the
 * result has none of them. All 0 is what both write when there was nothing to measure: null as well.
 */
export function benchStatistics(fields: Fields, metric: string, suffix = '_ms'): ToldStatistics | null {
  const ending = `_${metric}${suffix}`;
  const told = new Map<string, number>();
  for (const name of fields.names) {
    if (!name.endsWith(ending) || !STATISTIC.test(name.slice(0, -ending.length))) continue;
    const value = fields.number(name);
    if (value !== null) told.set(name.slice(0, -ending.length), value * SECONDS_PER_MS);
  }
  if ([...told.values()].every((value) => value === 0)) return null;
  const statistic = (name: string): number | null => told.get(name) ?? null;
  return {
    mean: statistic('mean'),
    std: statistic('std'),
    min: statistic('min'),
    max: statistic('max'),
    percentiles: percentilesOf(told),
  };
}

function percentilesOf(told: ReadonlyMap<string, number>): Map<number, number> {
  const percentiles = new Map<number, number>();
  for (const [name, value] of told) {
    const percent = name === 'median' ? '50' : STATISTIC.exec(name)?.[2];
    if (percent !== undefined) percentiles.set(Number(percent) / 100, value);
  }
  return percentiles;
}

/** The same as what a result can hold: the percentiles that have a name there. */
export function asStated({ mean, std, min, max, percentiles }: ToldStatistics, n: number | null): StatedStatistics {
  const named: Partial<Record<PercentileName, number>> = {};
  for (const name of PERCENTILE_NAMES) {
    const found = [...percentiles].find(([q]) => Math.abs(q - PERCENTILES[name]) < 1e-9);
    if (found !== undefined) named[name] = found[1];
  }
  return { n, mean, std, min, max, percentiles: named };
}
