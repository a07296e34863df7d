import { ExpectedError } from '../errors/expected-error.ts';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { replaceFile, replaceJson, besideOutput, type TemporaryFor } from '../files/durable-file.ts';
import { aiperfMetrics, aiperfSummary, AIPERF_PERCENTILES, type NamedStatistics } from './aiperf-summary.ts';
import { AiperfTotals } from './aiperf-totals.ts';

/** The folder of a run directory that AIPerf's files are written to. */
export const AIPERF_FOLDER = 'aiperf';

/**
 * Writes the summary of a finished run as AIPerf 0.13.0 would have: `profile_export_aiperf.json` and
 * `profile_export_aiperf.csv` in `folder`, which is created when it is missing. Throws an `ExpectedError` when the run
 * has no wall time, and file system errors.
 */
export async function writeAiperf(
  folder: string,
  run: RunFile,
  result: ResultFile,
  records: AsyncIterable<RequestRecord>,
  temporaryFor: TemporaryFor = besideOutput,
): Promise<void> {
  if (run.start === null)
    throw new ExpectedError('failed', `run ${run.run_id} has no start time, which AIPerf's files require`);
  await mkdir(folder, { recursive: true });
  const totals = new AiperfTotals();
  for await (const record of records) totals.add(record);
  const metrics = aiperfMetrics(run, result, totals);
  const summary = aiperfSummary(run, result, metrics, totals.errors);
  await replaceJson(join(folder, 'profile_export_aiperf.json'), summary, temporaryFor);
  await replaceFile(join(folder, 'profile_export_aiperf.csv'), aiperfCsv(metrics), temporaryFor);
}

const COLUMNS = ['avg', 'min', 'max', 'sum', ...AIPERF_PERCENTILES, 'std'] as const;

/** Units that AIPerf omits, because the metric's name contains them. */
const UNNAMED_UNITS: ReadonlySet<string> = new Set(['requests', 'count']);

/**
 * The content of `profile_export_aiperf.csv`: the metrics with statistics, an empty line, those that are one number; by
 * tag, two decimals, lines that end with CR LF. What is not known is an empty cell.
 */
function aiperfCsv(metrics: readonly NamedStatistics[]): string {
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
