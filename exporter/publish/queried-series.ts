import type { FamilyInput, SampleInput } from '../../core/exposition/index.ts';

/** Which series of finished runs a page has: those that are queried by what llmbench ships and documents, or all. */
export const RESULT_SERIES = ['queried', 'all'] as const;
export type ResultSeries = (typeof RESULT_SERIES)[number];

/** Distributions of which the statistics below are queried. Single numbers and counts are on each page. */
const MEASURES: ReadonlySet<string> = new Set(
  ['time_to_first_token', 'inter_token_latency', 'inter_chunk_latency', 'request_latency', 'schedule_delay'].flatMap(
    (measure) => [measure, `${measure}_from_due`],
  ),
);
const STATISTICS: ReadonlySet<string> = new Set(['mean', 'p50', 'p90', 'p95', 'p99']);
/** The statistic of single numbers, and those of the number of requests. */
const NUMBERS: ReadonlySet<string> = new Set(['value', 'ok', 'error', 'timeout', 'cancelled']);
const QUANTILES: ReadonlySet<string> = new Set(['0.5', '0.99']);

/** The families with those of their samples that dashboards, rules, alerts, the app and the guides query. */
export function queriedSeries(families: readonly FamilyInput[]): readonly FamilyInput[] {
  return families.flatMap((family) => {
    const samples = family.samples.filter(isQueried);
    return samples.length === 0 ? [] : [{ ...family, samples }];
  });
}

/** What has neither of these labels is no statistic of a distribution. */
function isQueried({ labels: { measure, stat, quantile, bound } }: SampleInput): boolean {
  if (quantile !== undefined && bound !== undefined) return QUANTILES.has(quantile);
  if (measure === undefined || stat === undefined) return true;
  return NUMBERS.has(stat) || (MEASURES.has(measure) && STATISTICS.has(stat));
}
