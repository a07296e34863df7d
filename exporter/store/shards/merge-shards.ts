import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StagedSummary } from '../../../core/measures/staged-summary.ts';
import { PHASES, OUTCOMES, countOf } from '../../../core/run/record.ts';
import type { ClientHealth, ResultFile } from '../../../core/run/result.ts';
import type { PhaseWindow, RunFile, RunShards } from '../../../core/run/run.ts';
import { ExpectedError } from '../../errors/expected-error.ts';
import { ownIdentity } from '../../files/process-identity.ts';
import { addRun, type AddedFile, type ReadBack } from '../changes/add-run.ts';
import { FileShelf } from '../file-shelf.ts';
import { copyRecords } from '../records/copy-records.ts';
import { readRecordGroups } from '../records/read-records.ts';
import { momentaryName, runPaths, unfinishedDirectory, shardsText, shardDirectories } from '../run-paths.ts';
import { openStore, type RunStore } from '../run-store.ts';
import { UNKNOWN_HEALTH, resultOf, summaryOptions } from '../sealed/seal-run.ts';

/** One shard of a run. */
interface ShardRun {
  readonly run: RunFile;
  readonly result: ResultFile;
}

/** The status of the shards: the worst one, with the failures of each. A run that lacks shards did not complete. */
function mergedEnd(
  shards: readonly ShardRun[],
  { count, missing }: RunShards,
): Pick<RunFile, 'status' | 'failure' | 'recovered'> {
  const statuses = [...shards.map(({ run }) => run.status), ...(missing.length === 0 ? [] : ['aborted' as const])];
  const status = (['failed', 'aborted'] as const).find((each) => statuses.includes(each)) ?? 'completed';
  const incomplete =
    missing.length === 0
      ? []
      : [`incomplete: ${shardsText(missing)} of ${count} ${missing.length === 1 ? 'is' : 'are'} missing`];
  const failures = shards.flatMap(({ run: { shard, failure } }) =>
    failure === null ? [] : [`shard ${shard}: ${failure}`],
  );
  const reasons = [...incomplete, ...failures];
  return {
    status,
    failure: reasons.length === 0 ? null : reasons.join('; '),
    recovered: shards.some(({ run }) => run.recovered),
  };
}

/** Each phase, from the first shard that started it to the last that ended it. */
function mergedPhases(shards: readonly ShardRun[]): PhaseWindow[] {
  const phases = shards.flatMap(({ run }) => run.phases);
  return PHASES.flatMap((phase) => {
    const windows = phases.filter((window) => window.phase === phase);
    if (windows.length === 0) return [];
    const ends = windows.map(({ end }) => end);
    return [{ phase, start: least(windows.map(({ start }) => start)), end: ends.includes(null) ? null : most(ends) }];
  });
}

/** Instants in the same format, RFC 3339 in UTC, sort as strings. */
const least = (instants: readonly (string | null)[]): string | null => known(instants).at(0) ?? null;
const most = (instants: readonly (string | null)[]): string | null => known(instants).at(-1) ?? null;

function known(instants: readonly (string | null)[]): string[] {
  return instants.filter((instant) => instant !== null).sort();
}

/** The worst client verdict; CPU time is summed. */
function mergedHealth(shards: readonly ShardRun[]): ClientHealth {
  const clients = shards.map(({ run, result }) => ({ shard: run.shard, ...result.client }));
  const worst = (['saturated', 'unknown', 'ok'] as const)
    .map((verdict) => clients.find((client) => client.verdict === verdict))
    .find((client) => client !== undefined);
  if (worst === undefined) return UNKNOWN_HEALTH;
  const cpu = clients.map(({ cpu_seconds }) => cpu_seconds);
  return {
    verdict: worst.verdict,
    why: worst.why === null ? null : `shard ${worst.shard}: ${worst.why}`,
    event_loop_delay_p99_seconds: largest(clients.map((client) => client.event_loop_delay_p99_seconds)),
    event_loop_delay_max_seconds: largest(clients.map((client) => client.event_loop_delay_max_seconds)),
    cpu_seconds: cpu.reduce((sum, seconds) => (sum === null || seconds === null ? null : sum + seconds), 0),
  };
}

function largest(values: readonly (number | null)[]): number | null {
  return values.reduce((most, value) => (value === null ? most : Math.max(most ?? value, value)), null);
}

/** The server metrics as seen by one shard: its window may lack the requests of the others. */
function mergedServers(shards: readonly ShardRun[]): ResultFile['servers'] {
  const seen = shards.find(({ result }) => result.servers !== null);
  if (seen?.result.servers == null) return null;
  if (shards.length === 1) return seen.result.servers;
  const why = `not exact: shard ${seen.run.shard} collected, in its own window, what the servers did for all shards`;
  return { ...seen.result.servers, exact: false, why, requests: null };
}

export interface MergedRun {
  readonly result: ResultFile;
  readonly path: string;
  readonly shards: RunShards;
  /** Notes for readers, one line each. */
  readonly notes: readonly string[];
}

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

  async function write({ run: shard, store: from }: StoredShard, path: string): Promise<void> {
    const later_ns = (Date.parse(shard.start ?? '') - zero_ms) * 1e6;
    await copyRecords(runPaths(await from.wholePathOf(runId), shard.shard).parquet, path, later_ns);
    for await (const group of readRecordGroups(path)) {
      for (let row = 0; row < group.length; row++) summary.add(group.at(row));
    }
  }

  async function summarized(readBack: ReadBack): Promise<ResultFile> {
    const chunks = summary.chunkReading();
    await readBack((record) => chunks.add(record));
    const made = await resultOf(run, summary, chunks, mergedHealth(shards), mergedServers(shards));
    notes = made.notes;
    return (result = made.result);
  }

  const files = await serverFiles(shards);
  const records = shards.map((shard) => ({
    shard: shard.run.shard,
    write: (path: string) => write(shard, path),
  }));
  let path: string;
  try {
    ({ path } = await addRun(store, { run, records, result: summarized, files }));
  } finally {
    await shelf.close();
  }
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
