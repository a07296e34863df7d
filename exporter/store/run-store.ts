import { readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import { isRunId, oldestFirst, orderOf, type OrderedRun } from '../../core/run/run-id.ts';
import type { RunFile } from '../../core/run/run.ts';
import { besideFile, type TemporaryFor } from '../files/durable-file.ts';
import { isFolder, makeDirectory } from '../files/exists.ts';
import { readInBatches } from '../files/read-regular-file.ts';
import { readFinishedRunFile, readResultFile, readRunFile } from './sealed/read-run-files.ts';
import { appendEntry } from './scenarios/append-log.ts';
import type { RecordGroup, RecordReading } from './records/read-records.ts';
import { isOwned, ownIdentity } from '../files/process-identity.ts';
import { recoverRuns, unfinishedNames } from './recovery/recover.ts';
import { isStorageUrl } from './storage-location.ts';
import { momentaryName, runFilePath, runPaths, unfinishedDirectory } from './run-paths.ts';
import { temporariesOf } from './temporary-file.ts';
import type { RunAddresses, RunPlan, RunWriter } from './run-writer.ts';
import { codeOf, reasonOf, RunExistsError, RunsDirectoryError } from '../errors/expected-error.ts';

/** Codes of the operating system for a refused write. */
const READ_ONLY: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'];

/** A finished run, or a damaged one with the reason. */
export type RunListing =
  | { readonly run_id: string; readonly path: string; readonly run: RunFile; readonly damage: null }
  | { readonly run_id: string; readonly path: string; readonly run: null; readonly damage: string };

export interface OpenedStore {
  readonly store: RunStore;
  readonly messages: string[];
  readonly recovered: readonly string[];
}

/**
 * Opens a runs directory (which may be missing) and finishes the runs whose process has ended: one message for each,
 * for the user; `recovered` are those that are now finished. Throws `RunsDirectoryError` if the directory exists and
 * cannot be read.
 */
export async function openStore(runsDirectory: string): Promise<OpenedStore> {
  if (isStorageUrl(runsDirectory)) {
    throw new RunsDirectoryError(
      `${runsDirectory} is in object storage, where nothing is measured: use a directory, and --upload ${runsDirectory}`,
    );
  }
  const store = new RunStore(resolve(runsDirectory));
  try {
    const { messages, finished } = await recoverRuns(store.directory);
    return { store, messages, recovered: finished };
  } catch (error) {
    throw new RunsDirectoryError(`cannot read the runs directory ${store.directory}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** The runs of one directory. */
export class RunStore {
  readonly directory: string;
  /** Where a file of a run is written before it takes its place. */
  readonly temporaryFor: TemporaryFor;

  constructor(directory: string, temporaryFor: TemporaryFor = temporariesOf(directory)) {
    this.directory = directory;
    this.temporaryFor = temporaryFor;
  }

  /**
   * Starts a run: `.unfinished/<run_id>` with its run.json. Throws `RunsDirectoryError`, before anything is measured,
   * if the directory is not writable or contains a run of that name.
   */
  async begin(
    plan: RunPlan,
    addresses: RunAddresses = { metrics_url: null, server_metrics_urls: [] },
  ): Promise<RunWriter> {
    if (!isRunId(plan.run_id)) throw new RunsDirectoryError(`"${plan.run_id}" is not a run id: [0-9A-Za-z-]{1,64}`);
    if (!isRunId(plan.shard)) throw new RunsDirectoryError(`"${plan.shard}" is not a shard: [0-9A-Za-z-]{1,64}`);
    await this.checkWritable();
    await this.refuseTaken(plan.run_id);
    try {
      const { RunWriter: Writer } = await import('./run-writer.ts');
      return await Writer.begin(this.directory, plan, addresses);
    } catch (error) {
      throw this.#unwritable(error);
    }
  }

  /** Where the runs are, for people. */
  get place(): string {
    return this.directory;
  }

  /** Whether most runs may still be on their way into it. */
  get isFilling(): boolean {
    return false;
  }

  /** Creates the directory if missing and tests writing to it. Throws `RunsDirectoryError`. */
  async checkWritable(): Promise<void> {
    const unfinished = unfinishedDirectory(this.directory);
    const trial = join(unfinished, momentaryName('trial', ownIdentity()));
    try {
      await makeDirectory(unfinished);
      await writeFile(trial, 'x');
      // Another operation of this process may have tested at the same moment.
      await rm(trial, { force: true });
    } catch (error) {
      throw this.#unwritable(error);
    }
  }

  /**
   * Why nothing can be written to a directory that exists, such as its permissions or a full disk; null if it can be
   * written. Throws `RunsDirectoryError` for any other reason.
   */
  async whyReadOnly(): Promise<string | null> {
    try {
      await this.checkWritable();
      return null;
    } catch (error) {
      const cause = error instanceof RunsDirectoryError ? error.cause : error;
      const code = codeOf(cause);
      if (isFolder(this.directory) && code !== null && READ_ONLY.includes(code)) return reasonOf(cause);
      throw error;
    }
  }

  /** Throws `RunExistsError` if a finished or unfinished run has that name. */
  async refuseTaken(runId: string): Promise<void> {
    const taken = [this.directory, unfinishedDirectory(this.directory)];
    for (const names of await Promise.all(taken.map((directory) => readdir(directory)))) {
      if (names.includes(runId)) throw new RunExistsError(runId, this.directory);
    }
  }

  /** The names of the finished runs, including damaged ones, unordered. */
  async runIds(): Promise<string[]> {
    const names = await this.names();
    return names.filter((name) => isFolder(this.pathOf(name)));
  }

  /** The entries with the name of a run; files are possible. */
  async names(): Promise<string[]> {
    try {
      return (await readdir(this.directory)).filter(isRunId);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** The finished runs, newest first, damaged ones last with the reason. */
  async list(): Promise<RunListing[]> {
    const listings = await readInBatches(await this.runIds(), (runId) => this.#listing(runId));
    const placeOf = ({ run, run_id }: RunListing): OrderedRun =>
      run === null ? { run_id, start: null } : orderOf(run);
    return listings.sort((a, b) => oldestFirst(placeOf(b), placeOf(a)));
  }

  /** The runs whose process is running, sorted by name. */
  async running(): Promise<RunFile[]> {
    const runs: RunFile[] = [];
    for (const name of (await unfinishedNames(this.directory)).filter(isRunId)) {
      const folder = join(unfinishedDirectory(this.directory), name);
      const run = await readRunFile(folder).catch(() => null);
      // Finished in the meantime, or damaged: opening the store reports it.
      if (run?.process && (await isOwned(run.process, runFilePath(folder)).catch(() => false))) runs.push(run);
    }
    return runs;
  }

  /** Reads the unfinished runs as finished ones are read: those that have their result and are not yet published. */
  get unfinished(): Pick<
    RunStore,
    'pathOf' | 'readRun' | 'readResult' | 'readRecords' | 'readRecordGroups' | 'temporaryFor'
  > {
    // Publishing a run removes what is left in its folder.
    return new RunStore(unfinishedDirectory(this.directory), besideFile);
  }

  /** Path of a finished run. Throws a `RangeError` for an invalid run id. */
  pathOf(runId: string): string {
    if (!isRunId(runId)) throw new RangeError(`"${runId}" is not a run id: [0-9A-Za-z-]{1,64}`);
    return join(this.directory, runId);
  }

  /** Path of a finished run once all of its files are there: a cache brings those that it lacks. */
  wholePathOf(runId: string): Promise<string> {
    return Promise.resolve(this.pathOf(runId));
  }

  /** Appends an entry to a log of a scenario, safely for concurrent processes, and waits until it is stored. */
  appendToLog(path: string, entry: object): Promise<void> {
    return appendEntry(path, entry);
  }

  /** Path of a run that has ended: also of one whose process still waits until its last metrics are scraped. */
  endedPathOf(runId: string): string {
    const path = this.pathOf(runId);
    const waiting = join(unfinishedDirectory(this.directory), runId);
    return !isFolder(path) && isFolder(waiting) ? waiting : path;
  }

  /** The run.json of a finished run. Throws `DamagedRunError` or `SchemaVersionError`. */
  async readRun(runId: string): Promise<RunFile> {
    return readFinishedRunFile(this.pathOf(runId));
  }

  /**
   * The result.json of a finished run, with the current fingerprint of its run. Throws `DamagedRunError` or
   * `SchemaVersionError`.
   */
  async readResult(runId: string): Promise<ResultFile> {
    const [result, { fingerprint }] = await Promise.all([readResultFile(this.pathOf(runId)), this.readRun(runId)]);
    return { ...result, fingerprint };
  }

  /**
   * The records of a finished run, shard by shard in the order of writing; none for an import without records. Throws
   * if they cannot be read.
   */
  async *readRecords(run: StoredRecords, reading: RecordReading = {}): AsyncGenerator<RequestRecord> {
    const { readParquetRecords } = await import('./records/read-records.ts');
    for (const path of await recordFiles(await this.wholePathOf(run.run_id), run))
      yield* readParquetRecords(path, reading);
  }

  /** Some fields of the same records, group by group: see `readRecordGroups`. */
  async *readRecordGroups(run: StoredRecords, fields: readonly (keyof RequestRecord)[]): AsyncGenerator<RecordGroup> {
    const { readRecordGroups } = await import('./records/read-records.ts');
    for (const path of await recordFiles(await this.wholePathOf(run.run_id), run))
      yield* readRecordGroups(path, fields);
  }

  async #listing(runId: string): Promise<RunListing> {
    const path = this.pathOf(runId);
    try {
      const run = await readFinishedRunFile(path);
      return { run_id: runId, path, run, damage: null };
    } catch (error) {
      return { run_id: runId, path, run: null, damage: reasonOf(error) };
    }
  }

  #unwritable(error: unknown): RunsDirectoryError {
    return new RunsDirectoryError(
      `cannot write to the runs directory ${this.directory}: ${reasonOf(error)}; choose another with --runs-dir`,
      { cause: error },
    );
  }
}

/** The facts needed to read the records of a run. */
type StoredRecords = Pick<RunFile, 'run_id' | 'shard'> & Partial<Pick<RunFile, 'source'>>;

/** The files that hold a run's records. */
async function recordFiles(folder: string, { shard, source = null }: StoredRecords): Promise<string[]> {
  const { records, parquet } = runPaths(folder, shard);
  const entries = await readdir(records, { withFileTypes: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.parquet'))
    .map(({ name }) => name)
    .sort(byShard);
  // Only an import may have none: reading the missing file reports the reason.
  if (files.length === 0) return source === null ? [parquet] : [];
  return files.map((name) => join(records, name));
}

/** Shard 10 comes after shard 9. */
const { compare: byShard } = new Intl.Collator('en', { numeric: true });
