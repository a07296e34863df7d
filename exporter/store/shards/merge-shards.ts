import { ExpectedError } from '../../errors/expected-error.ts';
import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StagedSummary } from '../../../core/measures/staged-summary.ts';
import { OUTCOMES, countOf, type RequestRecord } from '../../../core/run/record.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import type { RunFile, RunShards } from '../../../core/run/run.ts';
import { ownIdentity } from '../../files/process-identity.ts';
import { addRun, type AddedFile, type ReadBack } from '../changes/add-run.ts';
import { FileShelf } from '../file-shelf.ts';
import { least, mergedEnd, mergedHealth, mergedPhases, mergedServers, most, type ShardRun } from './merged-facts.ts';
import { momentaryName, unfinishedDirectory } from '../run-paths.ts';
import type { RunStore } from '../run-store.ts';
import { openStore } from '../run-store.ts';
import { resultOf, summaryOptions } from '../sealed/run-result.ts';
import { shardsText } from './shard-names.ts';
import { shardDirectories } from './shard-folders.ts';

export interface MergedRun {
  readonly result: ResultFile;
  readonly path: string;
  readonly shards: RunShards;
  /** Notes for readers, one line each. */
  readonly notes: readonly string[];
}

/** Columns that are instants since the run's start, which differs between shards. */
export const INSTANT_COLUMNS = [
  'due_ns',
  'sent_ns',
  'first_content_ns',
  'first_output_ns',
  'last_content_ns',
  'end_ns',
] as const satisfies readonly (keyof RequestRecord)[];

/** Runs of up to 32,768 requests need no file. */
const FIGURE_BLOCKS_IN_MEMORY = 8;

/** Server metrics that a shard may have collected. */
const SERVER_FILE = /^(servers\.(json|parquet)|server_metrics_export\..+)$/;

/**
 * Merges the shards of a run in a runs directory: its records are those of all shards, a file of each, on the clock of the
 * one that started first, and its result is computed from them as if one machine had generated the load. What it needs in
 * memory does not depend on their number: the figures lie in a file meanwhile. The shards are kept.
 * Missing shards are refused, or with `allowsMissing` make a run that is marked incomplete and aborted. Throws a
 * `ExpectedError` ('failed') and the errors of `addRun`; then nothing is created.
 */
export async function mergeShards(store: RunStore, runId: string, allowsMissing = false): Promise<MergedRun> {
  const shards = await storedShards(store.directory, runId, allowsMissing);
  const run = mergedRun(shards);
  const zero_ms = Date.parse(run.start ?? '');
  const figures = join(unfinishedDirectory(store.directory), momentaryName(runId, ownIdentity()));
  const shelf = new FileShelf(figures, FIGURE_BLOCKS_IN_MEMORY, 'waiting');
  const summary = new StagedSummary({ ...summaryOptions(run), shelf });
  let notes: readonly string[] = [];
  let result: ResultFile | null = null;

  async function* recordsOf({ run: shard, store: from }: StoredShard): AsyncGenerator<RequestRecord> {
    const later_ns = (Date.parse(shard.start ?? '') - zero_ms) * 1e6;
    for await (const record of from.readRecords(shard)) {
      const moved = movedBy(record, later_ns);
      summary.add(moved);
      yield moved;
    }
  }

  async function summarized(readBack: ReadBack): Promise<ResultFile> {
    const chunks = summary.chunkReading();
    for await (const record of readBack()) chunks.add(record);
    const made = await resultOf(run, summary, chunks, mergedHealth(shards), mergedServers(shards));
    notes = made.notes;
    return (result = made.result);
  }

  const files = await serverFiles(shards);
  const records = shards.map((shard) => ({ shard: shard.run.shard, records: recordsOf(shard) }));
  const { path } = await addRun(store, { run, records, result: summarized, files }).finally(() => shelf.close());
  if (result === null) throw new Error('a run was added without its result');
  return {
    result,
    path,
    shards: run.shards ?? { count: shards.length, missing: [] },
    notes: [...shards.flatMap(({ messages }) => messages), ...notes, ...gaps(run, result)],
  };
}

interface StoredShard extends ShardRun {
  readonly run: RunFile & { readonly status: ResultFile['status'] };
  readonly store: RunStore;
  /** Messages of opening its directory. */
  readonly messages: readonly string[];
}

/** The shards of a run, checked to belong together. One whose process was killed is finished first. */
async function storedShards(
  runsDirectory: string,
  runId: string,
  allowsMissing: boolean,
): Promise<readonly StoredShard[]> {
  const directories = await shardDirectories(runsDirectory, runId);
  const found = await Promise.all(
    directories.map(async (directory): Promise<StoredShard | null> => {
      const { store, messages } = await openStore(directory);
      if (!(await store.list()).some(({ run_id }) => run_id === runId)) {
        if (allowsMissing) return null;
        throw new ExpectedError('failed', `${directory} has no finished run ${runId}: it is running, or never started`);
      }
      const run = await store.readRun(runId);
      const { status } = run;
      if (status === 'running') throw new ExpectedError('failed', `the shard in ${directory} has not ended`);
      return { run: { ...run, status }, result: await store.readResult(runId), store, messages };
    }),
  );
  const shards = found.filter((shard) => shard !== null);
  if (shards.length === 0) throw new ExpectedError('failed', `no shards of run ${runId} in ${runsDirectory}`);
  const [first, ...others] = shards;
  const foreign = others.find(({ run }) => run.fingerprint !== first?.run.fingerprint);
  if (foreign !== undefined)
    throw new ExpectedError(
      'failed',
      `shard ${foreign.run.shard} has another plan than shard ${first?.run.shard}: they are not one run`,
    );
  const startless = shards.find(({ run }) => run.start === null);
  if (startless !== undefined)
    throw new ExpectedError('failed', `shard ${startless.run.shard} of run ${runId} has no start`);
  const { missing } = shardsOf(shards);
  if (missing.length > 0 && !allowsMissing)
    throw new ExpectedError(
      'failed',
      `${shardsText(missing)} of run ${runId} ${missing.length === 1 ? 'is' : 'are'} missing; --allow-missing merges the others into a run that is marked incomplete`,
    );
  return shards;
}

/** Which shards there should be; those of earlier versions do not state their number. */
function shardsOf(shards: readonly StoredShard[]): RunShards {
  const present = new Set(shards.map(({ run }) => run.shard));
  const count = Math.max(...shards.map(({ run }) => Math.max(run.shards?.count ?? 0, Number(run.shard) + 1)));
  const numbers = Array.from({ length: count }, (_, number) => String(number));
  return { count, missing: numbers.filter((number) => !present.has(number)) };
}

function mergedRun(shards: readonly StoredShard[]): StoredShard['run'] {
  const [first] = shards;
  if (first === undefined) throw new RangeError('a run has at least one shard');
  const parts = shardsOf(shards);
  const end = mergedEnd(shards, parts);
  return {
    ...first.run,
    ...end,
    status: end.status === 'running' ? 'aborted' : end.status,
    shard: '0',
    shards: parts,
    tags: [...new Set(shards.flatMap(({ run }) => run.tags))].sort(),
    start: least(shards.map(({ run }) => run.start)),
    end: most(shards.map(({ run }) => run.end)),
    phases: mergedPhases(shards),
    process: null,
  };
}

function movedBy(record: RequestRecord, later_ns: number): RequestRecord {
  const moved: { -readonly [Name in keyof RequestRecord]: RequestRecord[Name] } = { ...record };
  for (const name of INSTANT_COLUMNS) {
    const at_ns = record[name];
    if (at_ns !== null) moved[name] = at_ns + later_ns;
  }
  return moved;
}

async function serverFiles(shards: readonly StoredShard[]): Promise<readonly AddedFile[]> {
  for (const { run, store } of shards) {
    const folder = store.pathOf(run.run_id);
    const names = (await readdir(folder)).filter((name) => SERVER_FILE.test(name));
    if (names.length > 0)
      return names.map((name) => ({ name, write: (path: string) => copyFile(join(folder, name), path) }));
  }
  return [];
}

/** Missing shards at the end leave no gap in the numbers; the count of requests shows them. */
function gaps({ comparison_key: { stop }, status }: RunFile, { requests }: ResultFile): string[] {
  const { request_count: planned } = stop;
  const ended = countOf(requests, OUTCOMES);
  if (
    status !== 'completed' ||
    planned === null ||
    ended === null ||
    ended >= planned ||
    stop.benchmark_duration_seconds !== null
  )
    return [];
  return [`${ended} of ${planned} planned requests found: is a shard missing?`];
}
