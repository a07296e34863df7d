import { mkdir, rename, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, reasonOf, DamagedRunError } from '../../errors/expected-error.ts';
import { syncPath } from '../../files/durable-file.ts';
import { exists } from '../../files/exists.ts';
import { isOwned, type ProcessIdentity } from '../../files/process-identity.ts';
import {
  damagedDirectory,
  parseUnfinishedName,
  runFilePath,
  unfinishedDirectory,
  type UnfinishedName,
} from '../run-paths.ts';
import { readRunFile } from '../sealed/read-run-files.ts';
import type { Abandoned } from './finish-abandoned.ts';
import { recoverEdit } from './recover-edit.ts';

/**
 * Moves a damaged run's folder to `.damaged`, unchanged, and returns one line about it: damaged data is never deleted
 * and does not affect other runs. Throws the file system's error.
 */
export async function setAside(runsDirectory: string, folder: string, runId: string, damage: unknown): Promise<string> {
  const damaged = damagedDirectory(runsDirectory);
  await mkdir(damaged, { recursive: true });
  for (let copy = 1; ; copy++) {
    const path = join(damaged, copy === 1 ? runId : `${runId}.${copy}`);
    try {
      await rename(folder, path);
      await syncPath(damaged);
      return `run ${runId} was set aside to ${path}: ${reasonOf(damage)}`;
    } catch (error) {
      // A run of that name was set aside before.
      if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

export interface Recovery {
  readonly messages: string[];
  /** Run ids. */
  readonly finished: readonly string[];
}

/**
 * Finishes the runs whose process has ended; returns one line for each, and the runs that are now finished. Idempotent,
 * and safe for concurrent processes: a run is claimed by renaming its folder. A damaged run is reported and set aside;
 * one that cannot be finished for another reason is reported and not changed. Never throws for a single run.
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

/** The names in `.unfinished`; empty if the folder does not exist. */
export async function unfinishedNames(runsDirectory: string): Promise<string[]> {
  try {
    return (await readdir(unfinishedDirectory(runsDirectory))).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Completes the work of an ended process: a change of a run is applied, a removal is finished. */
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
    return `the unfinished change of run ${runId} cannot be completed: ${path}: ${reasonOf(error)}`;
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
    // There is rarely a run to finish, and the code that computes results is slow to load.
    const { claim } = await import('../sealed/seal-run.ts');
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
