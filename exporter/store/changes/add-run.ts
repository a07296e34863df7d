import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CHUNK_FIELDS } from '../../../core/measures/chunk-reading.ts';
import type { ChunkRecord } from '../../../core/measures/chunk-reading.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { isRunId } from '../../../core/run/run-id.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { discardFolder } from '../temporary-file.ts';
import { syncPath } from '../../files/durable-file.ts';
import { fingerprint } from '../fingerprint.ts';
import { startHeartbeat, ownIdentity } from '../../files/process-identity.ts';
import { SCHEMA_VERSIONS } from '../migrations/migrate.ts';
import { readRecordGroups } from '../records/read-records.ts';
import { ParquetRecordsWriter } from '../records/records-parquet.ts';
import { claimedName, runPaths, unfinishedDirectory } from '../run-paths.ts';
import type { RunPaths } from '../run-paths.ts';
import type { RunStore } from '../run-store.ts';
import { publicTarget } from '../run-writer.ts';
import { publish, writeOutcome } from '../sealed/seal-run.ts';
import { codeOf, RunExistsError } from '../../errors/expected-error.ts';

/** Visits the records that were just written, each valid until the next; none if the run has none. */
export type ReadBack = (visit: (record: ChunkRecord) => void) => Promise<void>;

/** The records of one shard of a run: a Parquet file that `write` creates at the given path. */
export interface ShardRecords {
  readonly shard: string;
  readonly write: (path: string) => Promise<void>;
}

/** A run measured by another tool or machine. */
export interface AddedRun {
  /** Schema version, fingerprint and process are set by the store. */
  readonly run: RunFile;
  /** Read once, one row group in memory at a time; null if nothing is known of single requests. */
  readonly records: AsyncIterable<RequestRecord> | readonly ShardRecords[] | null;
  /** A function is called after the records have been written, so that it can compute a result from them. */
  readonly result: ResultFile | ((readBack: ReadBack) => ResultFile | Promise<ResultFile>);
  /** Called after `result`: the run with facts from its records (its end, phases, notes). */
  readonly completed?: () => RunFile;
  /** Additional files of the run, such as servers.json; a function is called after the records have been written. */
  readonly files?: readonly AddedFile[] | (() => readonly AddedFile[]);
  /** The run exists and is replaced once the new one is complete; default false. */
  readonly replaces?: boolean;
  /** An unfinished run of this process has its name and is discarded afterwards by its writer; default false. */
  readonly completes?: boolean;
}

export interface AddedFile {
  /** Relative to the run's folder, with slashes. */
  readonly name: string;
  /** Creates the file at the given path. */
  readonly write: (path: string) => Promise<void>;
}

const FILE_NAME = /^(?!\.)[0-9A-Za-z._-]+(\/(?!\.)[0-9A-Za-z._-]+)?$/;
const OWN_FILES = /^(run\.json|result\.json|checksums\.sha256|records\/.*)$/;

/**
 * Adds a run atomically: after any failure, including a crash, the run exists completely or not at all, and readers
 * never see a part of it. Throws `RunExistsError` if a run of that name exists, `RunsDirectoryError` if the directory
 * is not writable, and the errors of `records`, `result` and `files`; then nothing is left.
 */
export async function addRun(store: RunStore, added: AddedRun): Promise<{ path: string }> {
  const { run, replaces = false, completes = false } = added;
  if (!isRunId(run.run_id) || ![run, ...partsOf(run, added.records)].every(({ shard }) => isRunId(shard)))
    throw new RangeError(`"${run.run_id}" is not a run id`);
  if (run.status === 'running') throw new RangeError('only a finished run can be added');
  await store.checkWritable();
  if (!replaces && !completes) await store.refuseTaken(run.run_id);
  const unfinished = unfinishedDirectory(store.directory);
  // While it has this name it belongs to this process; if the process ends, opening the store removes or publishes it.
  const paths = runPaths(join(unfinished, claimedName(run.run_id, ownIdentity())), run.shard);
  await mkdir(paths.folder).catch((error: unknown) => {
    throw isTaken(error) ? new RunExistsError(run.run_id, store.directory) : error;
  });
  const heartbeat = startHeartbeat(paths.folder);
  try {
    const final = await write(paths, added);
    await publish(store.directory, paths.folder, final, replaces);
    return { path: join(store.directory, run.run_id) };
  } catch (error) {
    await discardFolder(store.directory, paths.folder, run.run_id);
    throw isTaken(error) ? new RunExistsError(run.run_id, store.directory) : error;
  } finally {
    heartbeat.stop();
  }
}

/** Everything except the move: run.json is written last, so that a folder with run.json is complete. */
async function write(paths: RunPaths, { run, records, result, completed, files = [] }: AddedRun): Promise<RunFile> {
  const parts = partsOf(run, records);
  if (records !== null) await mkdir(paths.records);
  const recordFiles: string[] = [];
  for (const part of parts) {
    const { parquet: path } = runPaths(paths.folder, part.shard);
    await part.write(path);
    recordFiles.push(path);
  }
  for (const file of typeof files === 'function' ? files() : files) await writeFurther(paths.folder, file);
  const readBack: ReadBack = (visit) => visitChunks(recordFiles, visit);
  const outcome = typeof result === 'function' ? await result(readBack) : result;
  if (outcome.run_id !== run.run_id) throw new RangeError(`the result belongs to ${outcome.run_id}, not ${run.run_id}`);
  const known = completed?.() ?? run;
  const final: RunFile = {
    ...known,
    run_id: run.run_id,
    schema_version: SCHEMA_VERSIONS.run,
    fingerprint: fingerprint(known.comparison_key),
    target: publicTarget(known.target),
    process: null,
  };
  await writeOutcome(paths, final, { ...outcome, fingerprint: final.fingerprint });
  return final;
}

async function writeFurther(folder: string, { name, write }: AddedFile): Promise<void> {
  if (!FILE_NAME.test(name) || OWN_FILES.test(name))
    throw new RangeError(`"${name}" cannot be an additional file of a run`);
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await write(path);
  await syncPath(path);
  await syncPath(dirname(path));
}

const isTaken = (error: unknown): boolean => codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOTEMPTY';

function partsOf({ shard }: RunFile, records: AddedRun['records']): readonly ShardRecords[] {
  if (records === null) return [];
  return Symbol.asyncIterator in records ? [{ shard, write: (path) => writeRecords(path, records) }] : records;
}

async function writeRecords(path: string, records: AsyncIterable<RequestRecord>): Promise<void> {
  // Another tool's files know a third of the columns, and a description of each of the others took half of a short file.
  const parquet = new ParquetRecordsWriter(path, { columns: 'with values' });
  for await (const record of records) await parquet.append(record);
  await parquet.close();
}

async function visitChunks(recordFiles: readonly string[], visit: (record: ChunkRecord) => void): Promise<void> {
  for (const path of recordFiles) {
    for await (const group of readRecordGroups(path, CHUNK_FIELDS)) {
      for (let row = 0; row < group.length; row++) visit(group.at(row));
    }
  }
}
