import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { recoverEdit } from './edit-run.ts';
import { exists } from './exists.ts';
import type { Abandoned } from './finish-abandoned.ts';
import { isOwned } from './ownership.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { readRunFile } from './read-run-files.ts';
import { parseUnfinishedName, runFilePath, unfinishedDirectory } from './run-paths.ts';
import type { UnfinishedName } from './run-paths.ts';
import { setAside } from './set-aside.ts';
import { codeOf, DamagedRunError, reasonOf } from './store-errors.ts';

export interface Recovery {
  readonly messages: string[];
  /** Run ids. */
  readonly finished: readonly string[];
}

/**
 * Finishes the runs whose process is gone: one line for each, and which of them are finished now. Doing it again changes nothing, and several
 * processes may do it at once: each run is claimed by renaming its folder. A run that is damaged is named and put aside;
 * one that cannot be finished for another reason is named and left as it is. Nothing throws on its account.
 */
export async function recoverRuns(runsDirectory: string): Promise<Recovery> {
  const messages: string[] = [];
  const finished: string[] = [];
  for (const name of await unfinishedNames(runsDirectory)) {
    const parsed = parseUnfinishedName(name);
    if (parsed === null) continue;
    if (parsed.kind === 'run') {
      const recovered = await recoverRun(runsDirectory, name, parsed.runId, parsed.owner);
      if (recovered === null) continue;
      messages.push(recovered.message);
      if (recovered.finished !== null) finished.push(recovered.finished);
    } else {
      const message = await tidyUp(runsDirectory, name, parsed);
      if (message !== null) messages.push(message);
    }
  }
  return { messages, finished };
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
): Promise<Abandoned | null> {
  const folder = join(unfinishedDirectory(runsDirectory), name);
  let claimed: string | null = null;
  try {
    if (claimant !== null && (await isOwned(claimant, folder))) return null;
    if (claimant === null && (await isRunning(folder))) return null;
    // Nearly always there is none to finish, and what makes results is much to load.
    const { claim } = await import('./seal-run.ts');
    const { finishAbandoned } = await import('./finish-abandoned.ts');
    claimed = await claim(runsDirectory, name, runId);
    return claimed === null ? null : await finishAbandoned(runsDirectory, claimed, runId);
  } catch (error) {
    // Another process finished it in the meantime.
    if (!(await exists(claimed ?? folder))) return null;
    if (error instanceof DamagedRunError) {
      return { message: await setAside(runsDirectory, claimed ?? folder, runId, error), finished: null };
    }
    if (claimed !== null) await rename(claimed, join(unfinishedDirectory(runsDirectory), runId));
    return { message: `run ${runId} is unfinished and cannot be recovered: ${reasonOf(error)}`, finished: null };
  }
}

async function isRunning(folder: string): Promise<boolean> {
  const { process } = await readRunFile(folder);
  return process !== null && (await isOwned(process, runFilePath(folder)));
}
