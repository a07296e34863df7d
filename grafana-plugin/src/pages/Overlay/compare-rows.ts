import { t } from '@grafana/i18n';
import type { Unit } from '../../../../core/run/statistic.ts';
import type { PercentileName } from '../../../../core/stats/percentiles.ts';
import type { ResultFile } from '../../../../core/run/result.ts';
import { distributionOf, scalarOf } from '../Run/find-measure.ts';
import { measureName } from '../Run/measure-name.ts';

/** A number of each run, side by side. */
export interface CompareRow {
  name: string;
  unit: Unit;
  values: Array<number | null>;
  /** All runs with the number use the same definition: only then is it comparable. */
  alike: boolean;
}

type Results = ReadonlyArray<ResultFile | null>;

/** The achieved load, which may differ for equal configurations. */
export function loadRows(results: Results): CompareRow[] {
  const rows: CompareRow[] = [
    {
      name: t('overlay.ok-requests', 'Ok requests'),
      unit: 'requests',
      values: results.map((result) => result?.requests.ok ?? null),
      alike: true,
    },
    scalarRow(results, 'request_throughput'),
    scalarRow(results, 'effective_concurrency'),
    meanRow(results, 'input_sequence_length'),
    meanRow(results, 'output_sequence_length'),
    scalarRow(results, 'cached_input_ratio'),
    scalarRow(results, 'error_ratio'),
  ];
  return rows.filter(({ values }) => values.some((value) => value !== null));
}

/** The measures that runs are compared by. */
export function measureRows(results: Results): CompareRow[] {
  return [
    ...['time_to_first_token', 'inter_token_latency', 'request_latency'].flatMap((measure) =>
      (['p50', 'p90', 'p99'] as const).map((percentile) => percentileRow(results, measure, percentile))
    ),
    scalarRow(results, 'output_token_throughput'),
    scalarRow(results, 'total_token_throughput'),
    scalarRow(results, 'goodput'),
  ].filter(({ values }) => values.some((value) => value !== null));
}

function percentileRow(results: Results, measure: string, percentile: PercentileName): CompareRow {
  const found = results.map((result) => result && distributionOf(result, measure));
  return {
    name: `${measureName(measure)} ${percentile}`,
    unit: 'seconds',
    values: found.map((one) => one?.percentiles[percentile].value ?? null),
    alike: sameDefinition(found),
  };
}

function meanRow(results: Results, measure: string): CompareRow {
  const found = results.map((result) => result && distributionOf(result, measure));
  return {
    name: t('overlay.mean', '{{measure}}, mean', { measure: measureName(measure) }),
    unit: 'tokens',
    values: found.map((one) => one?.mean ?? null),
    alike: sameDefinition(found),
  };
}

function scalarRow(results: Results, measure: string): CompareRow {
  const found = results.map((result) => result && scalarOf(result, measure));
  return {
    name: measureName(measure),
    unit: found.find((one) => one !== null)?.unit ?? 'ratio',
    values: found.map((one) => one?.value ?? null),
    alike: sameDefinition(found),
  };
}

function sameDefinition(found: ReadonlyArray<{ definition: string } | null>): boolean {
  return new Set(found.flatMap((one) => one?.definition ?? [])).size <= 1;
}

/** The difference to the first run relative to it; null where the two are not comparable. */
export function changeRatio({ values, alike, unit }: CompareRow, index: number): number | null {
  const [first, value] = [values[0], values[index]];
  const isUsable = alike && index > 0 && unit !== 'ratio';
  return isUsable && first && value !== null && value !== undefined ? value / first - 1 : null;
}
