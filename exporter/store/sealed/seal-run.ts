import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunReading, StagedSummary } from '../../../core/measures/staged-summary.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { writeChecksums } from './checksums.ts';
import { replaceJson, syncPath } from '../../files/durable-file.ts';
import { ownIdentity } from '../../files/process-identity.ts';
import { discardFolder } from '../discard-folder.ts';
import { readJsonlRecords } from '../records/read-jsonl.ts';
import { ParquetRecordsWriter } from '../records/records-parquet.ts';
import { claimedName, runPaths, unfinishedDirectory } from '../run-paths.ts';
import type { RunPaths } from '../run-paths.ts';
import { codeOf } from '../../errors/store-errors.ts';

/** Receives every record of a run again, in any order. It must not throw. */
export interface RecordReader {
  add(record: RequestRecord): void;
}

/**
 * Converts the JSONL of a run's records to Parquet and reads every chunk on the way, for the result and for `reader`.
 * `rows` is their number.
 */
export async function storeRecords(
  paths: RunPaths,
  summary: StagedSummary,
  reader: RecordReader | null = null,
): Promise<{ rows: number; chunks: RunReading }> {
  const chunks = summary.chunkReading();
  const parquet = new ParquetRecordsWriter(paths.parquet);
  let rows = 0;
  for await (const record of readJsonlRecords(paths.jsonl)) {
    chunks.add(record);
    reader?.add(record);
    await parquet.append(record);
    rows += 1;
  }
  await parquet.close();
  await syncPath(paths.records);
  return { rows, chunks };
}

/** Writes result.json, then run.json: with a final status the run is complete and only has to be moved. */
export async function writeOutcome(paths: RunPaths, run: RunFile, result: ResultFile): Promise<void> {
  await replaceJson(paths.result, result);
  await replaceJson(paths.run, run);
}

/** Claims an unfinished folder for this process and returns its new path; null if another process was faster. */
export async function claim(runsDirectory: string, name: string, runId: string): Promise<string | null> {
  const unfinished = unfinishedDirectory(runsDirectory);
  const claimed = join(unfinished, claimedName(runId, ownIdentity()));
  try {
    await rename(join(unfinished, name), claimed);
    return claimed;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Seals a claimed folder whose run.json has a final status with the checksums of its files, and moves it to the
 * finished runs. Throws the file system's error; ENOTEMPTY or EEXIST if a run of that name exists, unless it is to be
 * replaced: if the process ends in between, opening the store moves the folder that was sealed.
 */
export async function publish(runsDirectory: string, claimed: string, run: RunFile, replaces = false): Promise<void> {
  const paths = runPaths(claimed, run.shard);
  await replaceJson(paths.run, { ...run, process: null } satisfies RunFile);
  await rm(paths.jsonl, { force: true });
  for (const name of await readdir(claimed, { recursive: true })) {
    // Left by a process that was killed while replacing a file.
    if (name.endsWith('.tmp')) await rm(join(claimed, name));
  }
  // An import may have no records.
  if (existsSync(paths.records)) await syncPath(paths.records);
  await writeChecksums(claimed);
  const path = join(runsDirectory, run.run_id);
  if (replaces) await discardFolder(runsDirectory, path, run.run_id);
  await rename(claimed, path);
  await syncPath(dirname(claimed));
  await syncPath(runsDirectory);
}
