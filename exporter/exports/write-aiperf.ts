import { open, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { replaceFile, replaceJson, replaceWhenWritten, type TemporaryFor } from '../files/durable-file.ts';
import { refuseSpecialFile } from '../files/output-file.ts';
import { besideOutput } from '../files/output-temporary.ts';
import { aiperfLine, isAiperfRecord } from './aiperf-line.ts';
import { aiperfMetrics, aiperfSummary, AIPERF_PERCENTILES, type NamedStatistics } from './aiperf-summary.ts';
import { AiperfTotals } from './aiperf-totals.ts';

/** The folder of a run directory that AIPerf's files are written to. */
export const AIPERF_FOLDER = 'aiperf';

const LINES_AT_ONCE = 1000;

/** A run that cannot be written in another tool's form; the message states why. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
}

/**
 * Writes a finished run as AIPerf 0.13.0 would have: `profile_export.jsonl`, `profile_export_aiperf.json` and
 * `profile_export_aiperf.csv` in `folder`, which is created when it is missing. Throws an `ExportError` when the run
 * has no wall time, and file system errors.
 */
export async function writeAiperf(
  folder: string,
  run: RunFile,
  result: ResultFile,
  records: AsyncIterable<RequestRecord>,
  temporaryFor: TemporaryFor = besideOutput,
): Promise<void> {
  if (run.start === null) throw new ExportError(`run ${run.run_id} has no start time, which AIPerf's files require`);
  await mkdir(folder, { recursive: true });
  const totals = await writeLines(join(folder, 'profile_export.jsonl'), run, run.start, records, temporaryFor);
  await replaceJson(join(folder, 'profile_export_aiperf.json'), aiperfSummary(run, result, totals), temporaryFor);
  await replaceFile(
    join(folder, 'profile_export_aiperf.csv'),
    aiperfCsv(aiperfMetrics(run, result, totals)),
    temporaryFor,
  );
}

/** The lines of the requests, and what the summary needs of them. */
async function writeLines(
  path: string,
  run: RunFile,
  start: string,
  records: AsyncIterable<RequestRecord>,
  temporaryFor: TemporaryFor,
): Promise<AiperfTotals> {
  const totals = new AiperfTotals();
  await refuseSpecialFile(path);
  await replaceWhenWritten(
    path,
    async (temporary) => {
      const file = await open(temporary, 'w');
      try {
        let lines: string[] = [];
        const flush = async (): Promise<void> => {
          await file.appendFile(lines.join(''), 'utf8');
          lines = [];
        };
        for await (const record of records) {
          if (!isAiperfRecord(record)) continue;
          totals.add(record);
          lines.push(aiperfLine(record, run, start));
          if (lines.length >= LINES_AT_ONCE) await flush();
        }
        await flush();
      } finally {
        await file.close();
      }
    },
    temporaryFor,
  );
  return totals;
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
