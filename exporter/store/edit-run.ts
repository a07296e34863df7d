import { link, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunFile } from '../../core/run/run.ts';
import { CHECKSUMS_FILE, checksumsText, readChecksums, textSha256 } from './checksums.ts';
import { replaceFile, temporaryPath } from './durable-file.ts';
import { ownIdentity } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { readRunFile } from './read-run-files.ts';
import { isOwned } from './ownership.ts';
import { draftName, editPath, runFilePath, unfinishedDirectory } from './run-paths.ts';
import type { RunStore } from './run-store.ts';
import { codeOf, DamagedRunError } from './store-errors.ts';

const RUN_FILE = 'run.json';
const PAUSE_MS = 20;
/** Whoever changes a run is done within milliseconds; a disk may be slow. */
const LONGEST_WAIT_MS = 10_000;
/** A run that nobody has been changing for so long and is not as it was sealed is damaged. */
const CERTAIN_MS = 200;
const NOT_AS_SEALED = 'it is not as it was sealed; `llmbench runs verify` says more';
/** Tells the drafts of one process apart. */
let drafts = 0;

/**
 * What a process is about to change, written down before it does: whoever finds it without its process does it again,
 * so that run.json and the checksums change together.
 */
interface Edit {
  readonly owner: ProcessIdentity;
  /** SHA-256 of run.json before. */
  readonly base: string;
  /** The new files; the checksums are null when the run was sealed without. */
  readonly run: string;
  readonly checksums: string | null;
}

/**
 * Changes the run.json of a finished run, and its checksums with it, in one step; two processes do it one after the
 * other. Gives the new run.json. Throws a `DamagedRunError` when the file is not as it was sealed, and what the file
 * system says.
 */
export async function editRun(store: RunStore, runId: string, change: (run: RunFile) => RunFile): Promise<RunFile> {
  await store.checkWritable();
  const folder = store.pathOf(runId);
  const journal = editPath(store.directory, runId);
  const draft = join(unfinishedDirectory(store.directory), draftName(runId, ownIdentity(), drafts++));
  let giveUpAt = Date.now() + LONGEST_WAIT_MS;
  for (;;) {
    const { edit, changed, sealed } = await plannedEdit(folder, change);
    if (sealed) {
      await replaceFile(draft, JSON.stringify(edit));
      if (await begin(draft, journal)) {
        const applied = await applyEdit(folder, edit);
        await rm(journal, { force: true });
        if (applied) return changed;
      }
    }
    if (Date.now() > giveUpAt) throw new DamagedRunError(runFilePath(folder), NOT_AS_SEALED);
    // Another process is changing the run, or was when it ended.
    const isChanging = await recoverEdit(store.directory, runId);
    if (!sealed && !isChanging) giveUpAt = Math.min(giveUpAt, Date.now() + CERTAIN_MS);
    await pause(PAUSE_MS);
  }
}

/** Whether the change is this process's to make: only one can make the name, and whoever reads it finds all of it. */
async function begin(draft: string, journal: string): Promise<boolean> {
  try {
    await link(draft, journal);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Does again what a process that is gone had begun. Whether there was anything, and its process may be at it. */
export async function recoverEdit(runsDirectory: string, runId: string): Promise<boolean> {
  const journal = editPath(runsDirectory, runId);
  try {
    const edit = JSON.parse(await readFile(journal, 'utf8')) as Edit;
    if (await isOwned(edit.owner, journal)) return true;
    const folder = join(runsDirectory, runId);
    await applyEdit(folder, edit);
    for (const name of [RUN_FILE, CHECKSUMS_FILE])
      await rm(temporaryPath(join(folder, name), edit.owner.pid), { force: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    // Done by another process, or the run was deleted in the meantime.
    await rm(journal, { force: true });
    return false;
  }
  await rm(journal, { force: true });
  return true;
}

async function plannedEdit(
  folder: string,
  change: (run: RunFile) => RunFile,
): Promise<{ edit: Edit; changed: RunFile; sealed: boolean }> {
  const base = textSha256(await readFile(runFilePath(folder), 'utf8'));
  const changed = change(await readRunFile(folder));
  const run = `${JSON.stringify(changed, null, 2)}\n`;
  const sums = await readChecksums(folder);
  const checksums = sums && checksumsText(new Map([...sums, [RUN_FILE, textSha256(run)]]));
  const sealed = sums === null || sums.get(RUN_FILE) === base;
  return { edit: { owner: ownIdentity(), base, run, checksums }, changed, sealed };
}

/** Puts the new files into the folder; doing it again changes nothing. False when run.json is of another edit. */
async function applyEdit(folder: string, { base, run, checksums }: Edit): Promise<boolean> {
  const now = textSha256(await readFile(runFilePath(folder), 'utf8'));
  if (now !== base && now !== textSha256(run)) return false;
  await replaceFile(runFilePath(folder), run);
  if (checksums !== null) await replaceFile(join(folder, CHECKSUMS_FILE), checksums);
  return true;
}
