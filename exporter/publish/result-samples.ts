import { ENERGY_MEASURES } from '../../core/measures/energy-results.ts';
import { publishedName } from '../../core/measures/names.ts';
import type { Unit } from '../../core/run/statistic.ts';
import { OUTCOMES } from '../../core/run/record.ts';
import type { MeasureResult, ResultFile } from '../../core/run/result.ts';
import { PERCENTILE_NAMES } from '../../core/stats/percentiles.ts';

export const RESULT_UNITS = [
  'seconds',
  'tokens',
  'ratio',
  'requests',
  'requests_per_second',
  'tokens_per_second',
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
 * is left out: missing is not zero. What servers say of themselves has families of its own; the energy of their GPUs is here.
 */
export function resultSamples(result: ResultFile): readonly ResultSample[] {
  return [
    ...OUTCOMES.flatMap((outcome): ResultSample[] => {
      const value = result.requests[outcome];
      return value === null ? [] : [{ unit: 'requests', measure: 'requests', stat: outcome, value }];
    }),
    ...result.measures
      .filter(({ origin, measure }) => origin === 'client' || Object.hasOwn(ENERGY_MEASURES, measure))
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
