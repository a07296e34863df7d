import { join } from 'node:path';
import { AIPERF_FOLDER, writeAiperf } from '../exports/aiperf-summary.ts';
import { VIEW_FIELDS, type RequestView } from '../report/request-view.ts';
import { viewOfRecords, writeReport } from '../report/write-report.ts';
import type { RunStore } from '../store/run-store.ts';
import { reasonOf } from '../errors/expected-error.ts';
import type { RunExport } from './run-request.ts';

/**
 * Writes the files derived from a finished run into its folder: report.html, and the requested exports. Failures are
 * reported, one line each: the run itself is already stored and is not lost. `view` is the view of its records;
 * default: they are read.
 */
export async function writeRunFiles(
  store: Pick<RunStore, 'pathOf' | 'readRun' | 'readResult' | 'readRecords' | 'readRecordGroups' | 'temporaryFor'>,
  runId: string,
  exports: readonly RunExport[],
  view?: () => RequestView | null,
): Promise<string[]> {
  const notes: string[] = [];
  const attempt = async (what: string, write: () => Promise<unknown>): Promise<void> => {
    try {
      await write();
    } catch (error) {
      notes.push(`${what} could not be written: ${reasonOf(error)}; \`llmbench report ${runId}\` retries`);
    }
  };
  const folder = store.pathOf(runId);
  const { temporaryFor } = store;
  const files = async () => ({ run: await store.readRun(runId), result: await store.readResult(runId) });
  await attempt('the report', async () => {
    const { run, result } = await files();
    const seen = (): Promise<RequestView | null> =>
      view === undefined ? viewOfRecords(store.readRecordGroups(run, VIEW_FIELDS)) : Promise.resolve(view());
    await writeReport(folder, run, result, seen, temporaryFor);
  });
  if (exports.includes('aiperf')) {
    await attempt("AIPerf's files", async () => {
      const { run, result } = await files();
      await writeAiperf(join(folder, AIPERF_FOLDER), run, result, store.readRecords(run), temporaryFor);
    });
  }
  return notes;
}
