import { readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import { isRunId } from '../../core/run/run-id.ts';
import type { RunFile } from '../../core/run/run.ts';
import { isFolder } from './index/stamps.ts';
import { makeDirectory } from './make-directory.ts';
import { readFinishedRunFile, readResultFile, readRunFile } from './read-run-files.ts';
import type { RecordReading } from './records-parquet.ts';
import { isOwned } from './ownership.ts';
import { recoverRuns, unfinishedNames } from './recover.ts';
import { runFilePath, runPaths, unfinishedDirectory } from './run-paths.ts';
import type { RunAddresses, RunPlan, RunWriter } from './run-writer.ts';
import { codeOf, reasonOf, RunExistsError, RunsDirectoryError } from './store-errors.ts';

/** A process may not have many files open. */
const FILES_AT_ONCE = 32;

/** A finished run, or one whose run.json cannot be read, with the reason. */
export type RunListing =
  | { readonly run_id: string; readonly path: string; readonly run: RunFile; readonly damage: null }
  | { readonly run_id: string; readonly path: string; readonly run: null; readonly damage: string };

export interface OpenedStore {
  readonly store: RunStore;
  readonly messages: string[];
  readonly recovered: readonly string[];
}

/**
 * Opens a runs directory (which need not exist yet) and finishes the runs whose process is gone: one message for each,
 * to be told to the user; `recovered` are those that are finished runs now. Throws `RunsDirectoryError` when it is there and cannot be read.
 */
export async function openStore(runsDirectory: string): Promise<OpenedStore> {
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

  constructor(directory: string) {
    this.directory = directory;
  }

  /**
   * Begins a run: `.unfinished/<run_id>` with its run.json. Throws `RunsDirectoryError`, before anything is measured,
   * when the directory cannot be written or has a run of that name.
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

  /** Makes the directory when it is missing and writes into it for a try. Throws `RunsDirectoryError`. */
  async checkWritable(): Promise<void> {
    const unfinished = unfinishedDirectory(this.directory);
    const trial = join(unfinished, `.trial-${process.pid}`);
    try {
      await makeDirectory(unfinished);
      await writeFile(trial, 'x');
      // Another piece of work of this process may have tried at the same moment.
      await rm(trial, { force: true });
    } catch (error) {
      throw this.#unwritable(error);
    }
  }

  /** Throws `RunExistsError` when a finished or an unfinished run has that name. */
  async refuseTaken(runId: string): Promise<void> {
    const taken = [this.directory, unfinishedDirectory(this.directory)];
    for (const names of await Promise.all(taken.map((directory) => readdir(directory)))) {
      if (names.includes(runId)) throw new RunExistsError(runId, this.directory);
    }
  }

  /** The names of the finished runs, also of damaged ones, in no order. */
  async runIds(): Promise<string[]> {
    const names = await this.names();
    return names.filter((name) => isFolder(this.pathOf(name)));
  }

  /** What is called like a run in the directory; a file may be too. */
  async names(): Promise<string[]> {
    try {
      return (await readdir(this.directory)).filter(isRunId);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** The finished runs, newest first; runs without a start of their own come last. Damaged ones are named. */
  async list(): Promise<RunListing[]> {
    const runIds = await this.runIds();
    const listings: RunListing[] = [];
    for (let i = 0; i < runIds.length; i += FILES_AT_ONCE) {
      const some = runIds.slice(i, i + FILES_AT_ONCE);
      listings.push(...(await Promise.all(some.map((runId) => this.#listing(runId)))));
    }
    const startOf = ({ run }: RunListing): string => run?.start ?? '';
    return listings.sort((a, b) => compare(startOf(b), startOf(a)) || compare(b.run_id, a.run_id));
  }

  /** The runs whose process still works on them, in the order of their names. */
  async running(): Promise<RunFile[]> {
    const runs: RunFile[] = [];
    for (const name of (await unfinishedNames(this.directory)).filter(isRunId)) {
      const folder = join(unfinishedDirectory(this.directory), name);
      const run = await readRunFile(folder).catch(() => null);
      // Finished by its process while we looked, or damaged: then opening the store says so.
      if (run?.process && (await isOwned(run.process, runFilePath(folder)).catch(() => false))) runs.push(run);
    }
    return runs;
  }

  /** SHA-256 of the content of an import → the run that it became. */
  async knownSources(): Promise<Map<string, string>> {
    const { RunIndex } = await import('./index/run-index.ts');
    return RunIndex.use(this, (index) => index.knownSources());
  }

  /** Where a finished run is. Throws a `RangeError` for what cannot be a run's name. */
  pathOf(runId: string): string {
    if (!isRunId(runId)) throw new RangeError(`"${runId}" is not a run id: [0-9A-Za-z-]{1,64}`);
    return join(this.directory, runId);
  }

  /** The run.json of a finished run. Throws `DamagedRunError` or `SchemaVersionError`. */
  async readRun(runId: string): Promise<RunFile> {
    return readFinishedRunFile(this.pathOf(runId));
  }

  /**
   * The result.json of a finished run, with the fingerprint that its run has today. Throws `DamagedRunError` or
   * `SchemaVersionError`.
   */
  async readResult(runId: string): Promise<ResultFile> {
    const [result, { fingerprint }] = await Promise.all([readResultFile(this.pathOf(runId)), this.readRun(runId)]);
    return { ...result, fingerprint };
  }

  /**
   * The records of a finished run, shard by shard in the order in which they were written; none for an import that has
   * none. Throws when they cannot be read.
   */
  async *readRecords(run: StoredRecords, reading: RecordReading = {}): AsyncGenerator<RequestRecord> {
    const { readParquetRecords } = await import('./records-parquet.ts');
    for (const path of await recordFiles(this.pathOf(run.run_id), run)) yield* readParquetRecords(path, reading);
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

/** What is to be known of a run to read its records. */
type StoredRecords = Pick<RunFile, 'run_id' | 'shard'> & Partial<Pick<RunFile, 'source'>>;

/** The files that hold a run's records. */
async function recordFiles(folder: string, { shard, source = null }: StoredRecords): Promise<string[]> {
  const { records, parquet } = runPaths(folder, shard);
  const names = await readdir(records).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  const files = names.filter((name) => name.endsWith('.parquet')).sort(byShard);
  // Only an import may have none: reading the file that should be there says what is wrong.
  if (files.length === 0) return source === null ? [parquet] : [];
  return files.map((name) => join(records, name));
}

/** Shard 10 comes after shard 9. */
const { compare: byShard } = new Intl.Collator('en', { numeric: true });

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
