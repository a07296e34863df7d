import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { DistributionResult, MeasureResult, ResultFile, ScalarResult } from '../../../core/run/result.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { openStore } from '../../store/run-store.ts';
import type { RunStore } from '../../store/run-store.ts';
import { importFiles } from '../import-files.ts';
import type { ImportReport, ImportRequest } from '../import-files.ts';
import { IMPORTERS } from '../importers.ts';

const SILENT = { planned: () => undefined, read: () => undefined, done: () => undefined };

/** A temporary folder for the duration of a function. */
export async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'llmbench-import-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Imports the paths into the store of a folder, with every importer by default. */
export async function importInto(
  runsDirectory: string,
  paths: readonly string[],
  changes: Partial<ImportRequest> = {},
): Promise<{ readonly report: ImportReport; readonly store: RunStore }> {
  const { store } = await openStore(runsDirectory);
  const report = await importFiles({
    paths,
    store,
    importers: IMPORTERS,
    timeZone: null,
    signal: new AbortController().signal,
    onProgress: SILENT,
    ...changes,
  });
  return { report, store };
}

/** The one run that a report lists as imported, from the store. */
export async function importedRun(
  { report, store }: { readonly report: ImportReport; readonly store: RunStore },
  position = 0,
): Promise<{ readonly run: RunFile; readonly result: ResultFile; readonly records: readonly RequestRecord[] }> {
  const imported = report.outcomes.filter(({ status }) => status === 'imported')[position];
  if (imported?.status !== 'imported') throw new Error(`nothing was imported: ${JSON.stringify(report.outcomes)}`);
  const run = await store.readRun(imported.run_id);
  const records: RequestRecord[] = [];
  for await (const record of store.readRecords(run)) records.push(record);
  return { run, result: await store.readResult(imported.run_id), records };
}

/** A measure of a result, over ok requests and from the time of sending by default. */
export function measureOf(
  result: ResultFile,
  measure: string,
  { population = 'ok', clock = 'sent' }: Partial<Pick<MeasureResult, 'population' | 'clock'>> = {},
): MeasureResult {
  const found = result.measures.find(
    (each) => each.measure === measure && each.population === population && each.clock === clock,
  );
  if (found === undefined) throw new Error(`the result has no ${measure}`);
  return found;
}

export function distributionOf(result: ResultFile, measure: string): DistributionResult {
  const found = measureOf(result, measure);
  if (found.kind !== 'distribution') throw new Error(`${measure} is no distribution`);
  return found;
}

export function scalarOf(result: ResultFile, measure: string, population: 'ok' | 'all' = 'ok'): ScalarResult {
  const found = measureOf(result, measure, { population });
  if (found.kind !== 'scalar') throw new Error(`${measure} is no scalar`);
  return found;
}
