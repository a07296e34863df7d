import { open, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { replaceFile, replaceJson, type TemporaryFor } from '../files/durable-file.ts';
import { refuseSpecialFile } from '../files/output-file.ts';
import { besideOutput } from '../files/output-temporary.ts';
import { aiperfCsv } from './aiperf-csv.ts';
import { aiperfLine, isAiperfRecord } from './aiperf-line.ts';
import { aiperfMetrics, aiperfSummary } from './aiperf-summary.ts';
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
  const temporary = await temporaryFor(path);
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
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  return totals;
}
