import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../files/durable-file.ts';
import { codeOf } from '../../errors/store-errors.ts';
import { temporariesOf } from '../temporary-file.ts';
import { editPath, runFilePath } from '../run-paths.ts';
import { CHECKSUMS_FILE, textSha256 } from '../sealed/checksums.ts';
import { isOwned } from '../../files/ownership.ts';
import type { ProcessIdentity } from '../../files/process-identity.ts';
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
  try {
    const edit = JSON.parse(await readRegularFile(journal)) as Edit;
    if (await isOwned(edit.owner, journal)) return true;
    const folder = join(runsDirectory, runId);
    await applyEdit(folder, edit);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    // Completed by another process, or the run was deleted in the meantime.
    await rm(journal, { force: true });
    return false;
  }
  await rm(journal, { force: true });
  return true;
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
