import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../files/durable-file.ts';
import { codeOf } from '../../errors/expected-error.ts';
import { temporariesOf } from '../temporary-file.ts';
import { editPath, runFilePath } from '../run-paths.ts';
import { CHECKSUMS_FILE, textSha256 } from '../sealed/checksums.ts';
import { isOwned, type ProcessIdentity } from '../../files/process-identity.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';

export const RUN_FILE = 'run.json';

/**
 * A change that a process is about to make, recorded before: if the process ends, the next one repeats it, so that
 * run.json and the checksums change together.
 */
export interface Edit {
  readonly owner: ProcessIdentity;
  /** SHA-256 of run.json before. */
  readonly base: string;
  /** The new files; the checksums are null if the run was sealed without. */
  readonly run: string;
  readonly checksums: string | null;
}

/**
 * Repeats the change that an ended process had started. Returns whether there was one, or its process may still be
 * working.
 */
export async function recoverEdit(runsDirectory: string, runId: string): Promise<boolean> {
  const journal = editPath(runsDirectory, runId);
  const recorded = await readJournal(journal);
  if (recorded === null) return false;
  const edit = JSON.parse(recorded) as Edit;
  if (await isOwned(edit.owner, journal)) return true;
  try {
    await applyEdit(join(runsDirectory, runId), edit);
  } catch (error) {
    // The run was deleted in the meantime.
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  // Another process may have recovered it first, and a third may have begun its own change since.
  if ((await readJournal(journal)) === recorded) await rm(journal, { force: true });
  return true;
}

async function readJournal(journal: string): Promise<string | null> {
  try {
    return await readRegularFile(journal);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Writes the new files into the folder; idempotent. False if run.json is of another edit. */
export async function applyEdit(folder: string, { base, run, checksums }: Edit): Promise<boolean> {
  const now = textSha256(await readRegularFile(runFilePath(folder)));
  if (now !== base && now !== textSha256(run)) return false;
  const temporaries = temporariesOf(dirname(folder));
  await replaceFile(runFilePath(folder), run, temporaries);
  if (checksums !== null) await replaceFile(join(folder, CHECKSUMS_FILE), checksums, temporaries);
  return true;
}
