import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SummaryAccumulator } from '../../core/measures/summary.ts';
import type { RunFile } from '../../core/run/run.ts';
import { isFresh, startHeartbeat } from './heartbeat.ts';
import { processState } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { readJsonlRecords } from './read-jsonl.ts';
import { readRunFile } from './read-run-files.ts';
import { parseUnfinishedName, runFilePath, runPaths, unfinishedDirectory } from './run-paths.ts';
import { resultOf, summaryOptions, UNKNOWN_HEALTH } from './run-result.ts';
import { claim, publish, storeRecords, writeOutcome } from './seal-run.ts';
import { codeOf, reasonOf } from './store-errors.ts';

const FAILURE = 'the process ended before the run did; records up to the last half second are kept';

/**
 * Finishes the runs whose process is gone and returns one line for each. Doing it again changes nothing, and several
 * processes may do it at once: each run is claimed by renaming its folder. A run that cannot be finished is named and
 * left as it is; nothing throws on its account.
 */
export async function recoverRuns(runsDirectory: string): Promise<string[]> {
  const messages: string[] = [];
  for (const name of await unfinishedNames(runsDirectory)) {
    const parsed = parseUnfinishedName(name);
    if (parsed === null) continue;
    const message = await recoverRun(runsDirectory, name, parsed.runId, parsed.owner);
    if (message !== null) messages.push(message);
  }
  return messages;
}

/** The names in `.unfinished`, none when there is no such folder. */
export async function unfinishedNames(runsDirectory: string): Promise<string[]> {
  try {
    return (await readdir(unfinishedDirectory(runsDirectory))).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Whether the process that owns a path still works on it: seen, or known by its heartbeat when it cannot be seen. */
export async function isOwned(owner: ProcessIdentity, path: string): Promise<boolean> {
  const state = processState(owner);
  return state === 'alive' || (state === 'elsewhere' && (await isFresh(path)));
}

async function recoverRun(
  runsDirectory: string,
  name: string,
  runId: string,
  claimant: ProcessIdentity | null,
): Promise<string | null> {
  const folder = join(unfinishedDirectory(runsDirectory), name);
  let claimed: string | null = null;
  try {
    if (claimant !== null && (await isOwned(claimant, folder))) return null;
    if (claimant === null && (await isRunning(folder))) return null;
    claimed = await claim(runsDirectory, name, runId);
    return claimed === null ? null : await finish(runsDirectory, claimed, runId);
  } catch (error) {
    // Another process finished it in the meantime.
    if (!(await exists(claimed ?? folder))) return null;
    if (claimed !== null) await rename(claimed, join(unfinishedDirectory(runsDirectory), runId));
    return `run ${runId} is unfinished and cannot be recovered: ${reasonOf(error)}`;
  }
}

async function isRunning(folder: string): Promise<boolean> {
  const { process } = await readRunFile(folder);
  return process !== null && (await isOwned(process, runFilePath(folder)));
}

async function finish(runsDirectory: string, claimed: string, runId: string): Promise<string> {
  if (!(await exists(runFilePath(claimed)))) {
    // Its process was killed while it made the folder: nothing had begun.
    await rm(claimed, { recursive: true });
    return `run ${runId} had not begun when its process ended: removed`;
  }
  const heartbeat = startHeartbeat(claimed);
  try {
    const run = await readRunFile(claimed);
    if (run.status !== 'running') {
      await publish(runsDirectory, claimed, run);
      return `run ${runId} (${run.status}) was moved to the finished runs: its process ended before it did that`;
    }
    const { run: aborted, requests } = await abort(claimed, run);
    await publish(runsDirectory, claimed, aborted);
    return `run ${runId} was finished as aborted: its process was gone; ${requests} requests are kept`;
  } finally {
    heartbeat.stop();
  }
}

/** Writes what a run without a process has left: its records as Parquet, and the result of them. */
async function abort(claimed: string, run: RunFile): Promise<{ run: RunFile; requests: number }> {
  const paths = runPaths(claimed, run.shard);
  const summary = new SummaryAccumulator(summaryOptions(run));
  for await (const record of readJsonlRecords(paths.jsonl)) summary.add(record);
  const { rows, chunks } = await storeRecords(paths, summary);
  const aborted = { ...run, status: 'aborted' as const, recovered: true, failure: FAILURE };
  const { result } = await resultOf(aborted, summary, chunks, UNKNOWN_HEALTH);
  await writeOutcome(paths, aborted, result);
  return { run: aborted, requests: rows };
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
