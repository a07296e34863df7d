import type { FamilyInput, SampleInput } from '../../core/exposition/index.ts';
import { isPublished } from '../../core/measures/breakdown.ts';
import { JUDGED_OF_SERVERS } from '../../core/measures/scalar-results.ts';
import { publishedName } from '../../core/measures/names.ts';
import { OUTCOMES } from '../../core/run/record.ts';
import type { BreakdownKey, MeasureResult, ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { Unit } from '../../core/run/statistic.ts';
import { PERCENTILE_NAMES } from '../../core/stats/percentiles.ts';

export const RESULT_UNITS = [
  'seconds',
  'tokens',
  'ratio',
  'requests',
  'requests_per_second',
  'tokens_per_second',
  'documents_per_second',
  'images',
  'images_per_second',
  'bytes',
  'joules',
  'watts',
  'joules_per_token',
  'cost_per_million_tokens',
] as const satisfies readonly Unit[];

/** One exact number of a finished run, as `llmbench_result_<unit>{run_id,measure,stat}` shows it. */
export interface ResultSample {
  readonly unit: Unit;
  readonly measure: string;
  readonly stat: string;
  readonly value: number;
}

/**
 * What a result says of the client, as samples. A measure that is counted both from sent and from due is distinguished in
 * `measure` (`time_to_first_token`, `time_to_first_token_from_due`); a statistic in which the failed requests count as
 * infinitely slow is distinguished in `stat` (`p99`, `all_p99`). A measure that is one number has `stat="value"`, whatever its
 * population, and the requests of the measure phase stand under `measure="requests"` with their outcome as `stat`. What is null
 * is left out: missing is not zero. What servers say of themselves has families of its own; the energy of their GPUs and the
 * acceptance of drafts are here.
 */
export function resultSamples(result: ResultFile): readonly ResultSample[] {
  return [
    ...OUTCOMES.flatMap((outcome): ResultSample[] => {
      const value = result.requests[outcome];
      return value === null ? [] : [{ unit: 'requests', measure: 'requests', stat: outcome, value }];
    }),
    ...result.measures
      .filter(({ origin, measure }) => origin === 'client' || JUDGED_OF_SERVERS.has(measure))
      .flatMap(measureSamples),
  ];
}

function measureSamples(result: MeasureResult): readonly ResultSample[] {
  const measure = publishedName(result);
  const prefix = result.kind === 'distribution' && result.population === 'all' ? 'all_' : '';
  return statistics(result).flatMap(([stat, value]) =>
    value === null ? [] : [{ unit: result.unit, measure, stat: `${prefix}${stat}`, value }],
  );
}

function statistics(result: MeasureResult): readonly (readonly [stat: string, value: number | null])[] {
  if (result.kind === 'scalar') return [['value', result.value]];
  const { mean, std, min, max, percentiles } = result;
  return [
    ['mean', mean],
    ['std', std],
    ['min', min],
    ['max', max],
    ...PERCENTILE_NAMES.map((name) => [name, percentiles[name].value] as const),
  ];
}

/** What is published of each population of a breakdown: series are a budget. */
const BREAKDOWN_STATS: ReadonlySet<string> = new Set(['value', 'mean', 'p50', 'p90', 'p99']);
const BREAKDOWN_MEASURES: ReadonlySet<string> = new Set([
  'time_to_first_token',
  'inter_token_latency',
  'request_latency',
  'input_sequence_length',
  'cached_input_ratio',
  'error_ratio',
  // Of models only.
  'request_throughput',
  'output_token_throughput',
  'document_throughput',
  'good_request_ratio',
]);

/** A sample of the population whose label `by` has the value `of`. */
export interface BreakdownSample extends ResultSample {
  readonly by: BreakdownKey['by'];
  readonly of: string;
}

/** The same of the populations of a result that are published; none without a breakdown. */
export function breakdownSamples({ breakdown = [] }: Pick<ResultFile, 'breakdown'>): readonly BreakdownSample[] {
  return breakdown.filter(isPublished).flatMap(({ by, value: of, requests, measures }) => {
    const counts = OUTCOMES.flatMap((stat): ResultSample[] => {
      const value = requests[stat];
      return value === null ? [] : [{ unit: 'requests', measure: 'requests', stat, value }];
    });
    const statistics = measures
      .filter(({ measure, clock }) => BREAKDOWN_MEASURES.has(measure) && clock === 'sent')
      .flatMap(measureSamples)
      .filter(({ stat }) => BREAKDOWN_STATS.has(stat));
    return [...counts, ...statistics].map((sample) => ({ ...sample, by, of }));
  });
}

export const LAST_RESULT = 'llmbench_scenario_last_result';

/** Statistics that queries select by scenario; `llmbench_result_*` has all of each run. */
const STATS: ReadonlySet<string> = new Set([
  ...['value', 'mean', 'p50', 'p90', 'p95', 'p99'],
  ...['ok', 'error', 'timeout', 'cancelled'],
]);

/**
 * The results of a run under the names of its scenario and fingerprint, so that a query needs no join to find the newest
 * ones. Of two numbers with equal labels (definitions that differ) the first stands.
 */
export function lastResultFamily({ scenario, fingerprint }: RunFile, result: ResultFile): FamilyInput {
  const samples = new Map(
    resultSamples(result)
      .filter(({ stat }) => STATS.has(stat))
      .map(({ unit, measure, stat, value }) => {
        const labels = { scenario, fingerprint, measure, stat, unit };
        return [`${measure} ${stat} ${unit}`, { labels, value }] as const;
      })
      .reverse(),
  );
  return {
    name: LAST_RESULT,
    help: 'Result of the newest completed run of the scenario with this fingerprint, in the unit of the label.',
    type: 'gauge',
    samples: [...samples.values()].reverse(),
  };
}

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
function isQueried({ labels: { measure, stat, quantile, bound, turn } }: SampleInput): boolean {
  if (turn !== undefined) return true;
  if (quantile !== undefined && bound !== undefined) return QUANTILES.has(quantile);
  if (measure === undefined || stat === undefined) return true;
  return NUMBERS.has(stat) || (MEASURES.has(measure) && STATISTICS.has(stat));
}
