import { PERCENTILES, PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import type { ReportedStatistics } from '../stated/check-statistics.ts';
import type { Fields } from '../reading/fields.ts';
import type { StatedStatistics } from '../stated/stated-measures.ts';

/** How a result writes its latencies: what follows the metric's name, and the factor to seconds. */
const UNITS = { ms: ['_ms', 1e-3], 'ms without suffix': ['', 1e-3], seconds: ['', 1] } as const;
const STATISTIC = /^(?:(mean|median|std|min|max)|p(\d+(?:\.\d+)?))$/;

/**
 * The statistics that vLLM's and SGLang's benchmark write as `mean_ttft_ms`, `p99.9_ttft_ms`, …, in seconds; null when the
 * result has none of them. All 0 is what both write when there was nothing to measure: null as well.
 */
export function benchStatistics(
  fields: Fields,
  metric: string,
  unit: keyof typeof UNITS = 'ms',
): ReportedStatistics | null {
  const [suffix, secondsPer] = UNITS[unit];
  const ending = `_${metric}${suffix}`;
  const reported = new Map<string, number>();
  for (const name of fields.names) {
    if (!name.endsWith(ending) || !STATISTIC.test(name.slice(0, -ending.length))) continue;
    const value = fields.number(name);
    if (value !== null) reported.set(name.slice(0, -ending.length), value * secondsPer);
  }
  if ([...reported.values()].every((value) => value === 0)) return null;
  const statistic = (name: string): number | null => reported.get(name) ?? null;
  return {
    mean: statistic('mean'),
    std: statistic('std'),
    min: statistic('min'),
    max: statistic('max'),
    percentiles: percentilesOf(reported),
  };
}

/** Names that are tried for the time of a token, of which seconds and milliseconds are far apart. */
const PER_TOKEN = ['median_tpot', 'mean_tpot', 'median_itl', 'mean_itl'] as const;

/**
 * The unit of a result's latencies. InferenceX's copy of the tool writes them in seconds without a unit in their names; a time
 * per token of a second or more is one in milliseconds. Null: the names have no unit, and no time per token shows it.
 */
export function benchUnit(fields: Fields): keyof typeof UNITS | null {
  if (fields.names.some((name) => /_(ttft|tpot|itl|e2el)_ms$/.test(name))) return 'ms';
  const perToken = PER_TOKEN.map((name) => (fields.has(name) ? fields.number(name) : null)).find(
    (value) => value !== null && value > 0,
  );
  if (perToken == null) return fields.names.some((name) => /^(mean|median)_(ttft|e2el)$/.test(name)) ? null : 'ms';
  return perToken < 1 ? 'seconds' : 'ms without suffix';
}

function percentilesOf(reported: ReadonlyMap<string, number>): Map<number, number> {
  const percentiles = new Map<number, number>();
  for (const [name, value] of reported) {
    const percent = name === 'median' ? '50' : STATISTIC.exec(name)?.[2];
    if (percent !== undefined) percentiles.set(Number(percent) / 100, value);
  }
  return percentiles;
}

/** The same as what a result can hold: the percentiles that have a name there. */
export function asStated({ mean, std, min, max, percentiles }: ReportedStatistics, n: number | null): StatedStatistics {
  const named: Partial<Record<PercentileName, number>> = {};
  for (const name of PERCENTILE_NAMES) {
    const found = [...percentiles].find(([q]) => Math.abs(q - PERCENTILES[name]) < 1e-9);
    if (found !== undefined) named[name] = found[1];
  }
  return { n, mean, std, min, max, percentiles: named };
}
