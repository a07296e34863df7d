import { join } from 'node:path';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { replaceFile, type TemporaryFor } from '../files/durable-file.ts';
import { reasonOf } from '../errors/store-errors.ts';
import { reportPage } from './page.ts';
import { readServers } from './read-servers.ts';
import type { ServerFiles } from './read-servers.ts';
import type { ReportData } from './report-data.ts';
import { RequestViewBuilder } from './request-view.ts';
import type { RequestView } from './request-view.ts';
import { serverSignals } from './server-signals.ts';
import { timeBins } from './time-bins.ts';

export const REPORT_FILE = 'report.html';

/**
 * Writes report.html into the folder of a run that has its result. `view` is the view of its records, null if there are
 * none. Unreadable records or server files are reported in the report, which shows the rest. Returns the path; throws
 * the file system's error.
 */
export async function writeReport(
  folder: string,
  run: RunFile,
  result: ResultFile,
  view: () => Promise<RequestView | null>,
  temporaryFor?: TemporaryFor,
): Promise<string> {
  const notes: string[] = [];
  const requests = await view().catch((error: unknown) => {
    notes.push(`The records cannot be read, so charts of them are missing: ${reasonOf(error)}.`);
    return null;
  });
  const files = await readServers(folder, run.start).catch((error: unknown) => {
    notes.push(`The collected server metrics cannot be read: ${reasonOf(error)}.`);
    return null;
  });
  const path = join(folder, REPORT_FILE);
  const page = reportPage({ run, result, requests, servers: servers(files, requests, result), notes });
  await replaceFile(path, page, temporaryFor);
  return path;
}

/** The view of a run's records; null if there are none. Throws if they cannot be read. */
export async function viewOfRecords(records: AsyncIterable<RequestRecord>): Promise<RequestView | null> {
  const builder = new RequestViewBuilder();
  for await (const record of records) builder.add(record);
  return builder.view();
}

function servers(files: ServerFiles | null, requests: RequestView | null, result: ResultFile): ReportData['servers'] {
  if (files === null) return null;
  const bins = requests?.bins ?? timeBins(result.window.seconds ?? 0);
  return { signals: serverSignals(files.samples, bins, files.intervalSeconds), series: files.series };
}
