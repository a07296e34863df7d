import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerTotals, PlannedReuse } from '../../core/measures/scalar-results.ts';
import { StagedSummary, type RunReading } from '../../core/measures/staged-summary.ts';
import { instantAt, type PhaseWindow, type RunFile, type RunProcess, type RunTarget } from '../../core/run/run.ts';
import type { PhaseName, RequestRecord } from '../../core/run/record.ts';
import type { ClientHealth, ResultFile } from '../../core/run/result.ts';
import type { RunEvents } from '../../core/run/run-output.ts';
import { discardFolder } from './temporary-file.ts';
import { replaceJson, syncPath } from '../files/durable-file.ts';
import { fingerprint } from './fingerprint.ts';
import { publicOrigin, publicUrl } from '../http-client/public-url.ts';
import { FileShelf } from './file-shelf.ts';
import { startHeartbeat, ownIdentity } from '../files/process-identity.ts';
import { SCHEMA_VERSIONS } from './migrations/migrate.ts';
import { JsonlRecordsWriter } from './records/records-jsonl.ts';
import { claimedName, runPaths, unfinishedDirectory } from './run-paths.ts';
import type { RunPaths } from './run-paths.ts';
import {
  resultOf,
  summaryOptions,
  claim,
  publish,
  storeRecords,
  writeOutcome,
  type RecordReader,
} from './sealed/seal-run.ts';
import { DamagedRunError, reasonOf, RunNotStoredError } from '../errors/expected-error.ts';

type FilledIn = 'schema_version' | 'status' | 'recovered' | 'fingerprint' | 'end' | 'phases' | 'process' | 'failure';
type LeftOut = 'source' | 'tags' | 'client' | 'dataset' | 'command_line' | 'provenance';

/** The facts of a run before its first request. A whole `RunFile` is accepted: the store sets the rest. */
export type RunPlan = Omit<RunFile, FilledIn | LeftOut | 'target'> &
  Partial<Pick<RunFile, LeftOut>> & { readonly target: PlannedTarget };

/** `origins` may be omitted if unknown. */
export type PlannedTarget = Omit<RunTarget, 'origins'> & Partial<Pick<RunTarget, 'origins'>>;

/** Addresses of a run's own metrics and of those of the measured servers. */
export type RunAddresses = Pick<RunProcess, 'metrics_url' | 'server_metrics_urls'>;

/** How a run ended. */
export interface RunEnd {
  readonly status: ResultFile['status'];
  /** The reason in one line, if the status is failed or aborted. */
  readonly failure: string | null;
  readonly phases: readonly PhaseWindow[];
  readonly health: ClientHealth;
  /** Summary of the server metrics; default: none collected. */
  readonly servers?: ResultFile['servers'];
  /** The part of it that is listed among the measures; default: unknown. */
  readonly serverTotals?: ServerTotals;
  /** What the plan makes possible for prefix caches; null or absent: it is not known. */
  readonly plannedReuse?: PlannedReuse | null;
  /** RFC 3339 in UTC. */
  readonly end: string;
  /** Receives every record while they are stored, so that they do not have to be read again. */
  readonly reader?: RecordReader;
}

/**
 * Writes one run while it is running. As a `RunEvents` it must not throw: disk errors are kept and thrown by
 * `complete`, with the result, which needs no disk.
 */
export class RunWriter implements RunEvents {
  /** The path of the published run. */
  readonly path: string;
  readonly #runsDirectory: string;
  readonly #paths: RunPaths;
  readonly #records: JsonlRecordsWriter;
  readonly #shelf: FileShelf;
  readonly #summary: StagedSummary;
  readonly #heartbeat: { stop(): void };
  #run: RunFile;
  #appended = 0;
  #updating: Promise<void> = Promise.resolve();
  #notes: string[] = [];
  #completed: Promise<ResultFile> | null = null;

  private constructor(runsDirectory: string, paths: RunPaths, run: RunFile, records: JsonlRecordsWriter) {
    this.path = join(runsDirectory, run.run_id);
    this.#runsDirectory = runsDirectory;
    this.#paths = paths;
    this.#run = run;
    this.#records = records;
    this.#shelf = new FileShelf(paths.figures);
    this.#summary = new StagedSummary({ ...summaryOptions(run), shelf: this.#shelf });
    this.#heartbeat = startHeartbeat(paths.run);
  }

  /** Creates the folder `.unfinished/<run_id>`. Throws the file system's error; EEXIST if the run exists. */
  static async begin(runsDirectory: string, plan: RunPlan, addresses: RunAddresses): Promise<RunWriter> {
    const identity = ownIdentity();
    const run: RunFile = {
      source: null,
      tags: [],
      client: null,
      dataset: null,
      command_line: null,
      provenance: null,
      ...plan,
      target: publicTarget(plan.target),
      schema_version: SCHEMA_VERSIONS.run,
      status: 'running',
      recovered: false,
      fingerprint: fingerprint(plan.comparison_key),
      end: null,
      phases: [],
      process: { ...identity, ...withoutSecrets(addresses) },
      failure: null,
    };
    const unfinished = unfinishedDirectory(runsDirectory);
    // Created under a temporary name, so that an unfinished run without a run.json is never visible.
    const prepared = runPaths(join(unfinished, claimedName(run.run_id, identity)), run.shard);
    const paths = runPaths(join(unfinished, run.run_id), run.shard);
    await mkdir(prepared.records, { recursive: true });
    const records = await JsonlRecordsWriter.create(prepared.jsonl);
    try {
      // Written last: a folder with a run.json is a run.
      await replaceJson(prepared.run, run);
      await rename(prepared.folder, paths.folder);
      await syncPath(unfinished);
    } catch (error) {
      await records.close();
      await rm(prepared.folder, { recursive: true, force: true });
      throw error;
    }
    return new RunWriter(runsDirectory, paths, run, records);
  }

  /** Notes for readers of the result, one line each; complete after `complete`. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** Why records are no longer written; null while writing succeeds. */
  get recordsError(): Error | null {
    return this.#records.error;
  }

  phaseStarted(phase: PhaseName, at_ns: number): void {
    const start = instantAt(this.#run.start, at_ns);
    this.#changeInBackground({ phases: [...this.#run.phases, { phase, start, end: null }] });
  }

  phaseEnded(phase: PhaseName, at_ns: number): void {
    const end = instantAt(this.#run.start, at_ns);
    const phases = this.#run.phases.map((each) => (each.phase === phase ? { ...each, end } : each));
    this.#changeInBackground({ phases });
    void this.#records.flush();
  }

  requestEnded(record: RequestRecord): void {
    this.#summary.add(record);
    this.#records.append(record);
    this.#appended += 1;
  }

  /** Changes run.json while the run is running: facts about the target, or addresses of metrics. */
  async update(change: Partial<Pick<RunFile, 'target'> & RunAddresses>): Promise<void> {
    const { target: given = this.#run.target, ...addresses } = change;
    const target = publicTarget(given);
    const now = this.#run.process;
    await this.#change({ target, process: now && { ...now, ...withoutSecrets({ ...now, ...addresses }) } });
  }

  /** `complete` and then `publish`. */
  async finish(end: RunEnd): Promise<ResultFile> {
    const result = await this.complete(end);
    await this.publish();
    return result;
  }

  /**
   * Writes the records as Parquet, result.json and run.json with its final status. The run stays among the unfinished
   * ones, with its process, so that its metrics can still be discovered and scraped. A second call returns the same
   * result. Throws `RunNotStoredError`, which has the result, if the disk fails; recovery handles the rest.
   */
  complete(end: RunEnd): Promise<ResultFile> {
    this.#completed ??= this.#complete(end);
    return this.#completed;
  }

  /** Moves the completed run to the finished ones. Throws `RunNotStoredError`. */
  async publish(): Promise<void> {
    if (this.#completed === null) throw new Error('a run must be completed before it is published');
    const result = await this.#completed;
    try {
      const claimed = await claim(this.#runsDirectory, this.#run.run_id, this.#run.run_id);
      if (claimed === null) throw new Error('its folder no longer exists');
      await publish(this.#runsDirectory, claimed, this.#run);
    } catch (error) {
      throw new RunNotStoredError(this.path, error, result);
    } finally {
      this.#heartbeat.stop();
    }
  }

  /** Removes the unfinished run: its measurements are stored otherwise, or there are none. Throws the file system's error. */
  async discard(): Promise<void> {
    await this.#updating;
    await this.#records.close();
    await this.#shelf.close();
    this.#heartbeat.stop();
    await discardFolder(this.#runsDirectory, this.#paths.folder, this.#run.run_id);
  }

  async #complete({
    status,
    failure,
    phases,
    health,
    servers,
    serverTotals,
    plannedReuse = null,
    end,
    reader,
  }: RunEnd): Promise<ResultFile> {
    await this.#updating;
    const run = { ...this.#run, status, failure, phases, end };
    let chunks: RunReading | null = null;
    let failed: unknown = null;
    try {
      chunks = await this.#storeRecords(reader ?? null);
    } catch (error) {
      failed = error;
    }
    const { result, notes } = await resultOf(run, this.#summary, chunks, health, servers, serverTotals, plannedReuse);
    await this.#shelf.close();
    this.#notes.push(...notes);
    try {
      if (failed === null) await writeOutcome(this.#paths, run, result);
    } catch (error) {
      failed = error;
    }
    if (failed !== null) {
      this.#heartbeat.stop();
      throw new RunNotStoredError(this.#paths.folder, failed, result);
    }
    this.#run = run;
    return result;
  }

  async #storeRecords(reader: RecordReader | null): Promise<RunReading> {
    await this.#records.close();
    const { rows, chunks } = await storeRecords(this.#paths, this.#summary, reader);
    if (rows !== this.#appended) {
      throw new DamagedRunError(this.#paths.jsonl, `it holds ${rows} records of ${this.#appended}`);
    }
    return chunks;
  }

  #changeInBackground(change: Partial<RunFile>): void {
    this.#change(change).catch((error: unknown) => {
      this.#notes.push(`run.json could not be updated while the run was running: ${reasonOf(error)}`);
    });
  }

  /** One write at a time, each with all changes so far. */
  #change(change: Partial<RunFile>): Promise<void> {
    this.#run = { ...this.#run, ...change };
    const run = this.#run;
    const written = this.#updating.then(() => replaceJson(this.#paths.run, run));
    this.#updating = written.catch(() => undefined);
    return written;
  }
}

/** The target, without secrets. */
export function publicTarget({ origin, origins = null, ...known }: PlannedTarget): RunTarget {
  return { ...known, origin: origin && publicOrigin(origin), origins: origins && origins.map(publicOrigin) };
}

function withoutSecrets({ metrics_url, server_metrics_urls }: RunAddresses): RunAddresses {
  return {
    metrics_url: metrics_url === null ? null : publicUrl(metrics_url),
    server_metrics_urls: server_metrics_urls.map(publicUrl),
  };
}
