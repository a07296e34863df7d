import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SummaryAccumulator } from '../../core/measures/summary.ts';
import type { RunFile } from '../../core/run/run.ts';
import { discardFolder } from './discard-folder.ts';
import { recoverEdit } from './edit-run.ts';
import { FileShelf } from './file-shelf.ts';
import { startHeartbeat } from './heartbeat.ts';
import { isOwned } from './ownership.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { readJsonlRecords } from './read-jsonl.ts';
import { readRunFile } from './read-run-files.ts';
import { parseUnfinishedName, runFilePath, runPaths, unfinishedDirectory } from './run-paths.ts';
import type { UnfinishedName } from './run-paths.ts';
import { resultOf, summaryOptions, UNKNOWN_HEALTH } from './run-result.ts';
import { claim, publish, storeRecords, writeOutcome } from './seal-run.ts';
import { setAside } from './set-aside.ts';
import { codeOf, DamagedRunError, reasonOf } from './store-errors.ts';

const FAILURE = 'the process ended before the run did; records up to the last half second are kept';

/**
 * Finishes the runs whose process is gone and returns one line for each. Doing it again changes nothing, and several
 * processes may do it at once: each run is claimed by renaming its folder. A run that is damaged is named and put aside;
 * one that cannot be finished for another reason is named and left as it is. Nothing throws on its account.
 */
export async function recoverRuns(runsDirectory: string): Promise<string[]> {
  const messages: string[] = [];
  for (const name of await unfinishedNames(runsDirectory)) {
    const parsed = parseUnfinishedName(name);
    if (parsed === null) continue;
    const message =
      parsed.kind === 'run'
        ? await recoverRun(runsDirectory, name, parsed.runId, parsed.owner)
        : await tidyUp(runsDirectory, name, parsed);
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

/** Ends what a process that is gone had begun: a change of a run is done, what it was removing is removed. */
async function tidyUp(
  runsDirectory: string,
  name: string,
  { runId, kind, owner }: UnfinishedName,
): Promise<string | null> {
  const path = join(unfinishedDirectory(runsDirectory), name);
  try {
    if (kind === 'edit') await recoverEdit(runsDirectory, runId);
    else if (owner !== null && !(await isOwned(owner, path))) await rm(path, { recursive: true, force: true });
    return null;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    return `what was left of a change of run ${runId} cannot be dealt with: ${path}: ${reasonOf(error)}`;
  }
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
    if (error instanceof DamagedRunError) return setAside(runsDirectory, claimed ?? folder, runId, error);
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
      if (await isSecondCopy(runsDirectory, run)) {
        await discardFolder(runsDirectory, claimed, runId);
        return `a second copy of the import ${runId}, left by a process that ended, was removed`;
      }
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

/** Two processes imported the same at once, and one of them ended before it could see that. */
async function isSecondCopy(runsDirectory: string, { run_id, source }: RunFile): Promise<boolean> {
  if (source === null || !(await exists(join(runsDirectory, run_id)))) return false;
  const first = await readRunFile(join(runsDirectory, run_id));
  return first.source?.sha256 === source.sha256;
}

/** Writes what a run without a process has left: its records as Parquet, and the result of them. */
async function abort(claimed: string, run: RunFile): Promise<{ run: RunFile; requests: number }> {
  const paths = runPaths(claimed, run.shard);
  const shelf = new FileShelf(paths.figures);
  const summary = new SummaryAccumulator({ ...summaryOptions(run), shelf });
  for await (const record of readJsonlRecords(paths.jsonl)) summary.add(record);
  const { rows, chunks } = await storeRecords(paths, summary);
  const aborted = { ...run, status: 'aborted' as const, recovered: true, failure: FAILURE };
  const { result } = await resultOf(aborted, summary, chunks, UNKNOWN_HEALTH);
  await shelf.close();
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
