import { AIPERF_PERCENTILES } from './aiperf-summary.ts';
import type { NamedStatistics } from './aiperf-summary.ts';

const COLUMNS = ['avg', 'min', 'max', 'sum', ...AIPERF_PERCENTILES, 'std'] as const;

/** Units that AIPerf omits, because the metric's name contains them. */
const UNNAMED_UNITS: ReadonlySet<string> = new Set(['requests', 'count']);

/**
 * The content of `profile_export_aiperf.csv`: the metrics with statistics, an empty line, those that are one number; by
 * tag, two decimals, lines that end with CR LF. What is not known is an empty cell.
 */
export function aiperfCsv(metrics: readonly NamedStatistics[]): string {
  const sorted = metrics.toSorted((a, b) => (a.tag < b.tag ? -1 : 1));
  const distributions = sorted.filter(({ statistics }) => 'max' in statistics);
  const scalars = sorted.filter(({ statistics }) => !('max' in statistics));
  const rows = [
    ['Metric', ...COLUMNS],
    ...distributions.map((metric) => [title(metric), ...COLUMNS.map((column) => cell(metric.statistics[column]))]),
    [],
    ['Metric', 'Value'],
    ...scalars.map((metric) => [title(metric), cell(metric.statistics.avg)]),
  ];
  return rows.map((row) => `${row.join(',')}\r\n`).join('');
}

function title({ header, statistics: { unit } }: NamedStatistics): string {
  return UNNAMED_UNITS.has(unit) ? header : `${header} (${unit})`;
}

function cell(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(2);
}
