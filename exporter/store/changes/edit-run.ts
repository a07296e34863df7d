import { link, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunFile } from '../../../core/run/run.ts';
import { checksumsText, readChecksums, textSha256 } from '../sealed/checksums.ts';
import { replaceFile } from '../../files/durable-file.ts';
import { ownIdentity } from '../../files/process-identity.ts';
import { applyEdit, recoverEdit, RUN_FILE } from '../recovery/recover-edit.ts';
import type { Edit } from '../recovery/recover-edit.ts';
import { readRunFile } from '../sealed/read-run-files.ts';
import { draftName, editPath, runFilePath, unfinishedDirectory } from '../run-paths.ts';
import type { RunStore } from '../run-store.ts';
import { codeOf, DamagedRunError } from '../../errors/expected-error.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';

const PAUSE_MS = 20;
/** Without a change that another process completes: each takes milliseconds, but a disk may be slow. */
const MAX_WAIT_MS = 10_000;
/** A run that differs from its checksums without a change in progress for this long is damaged. */
const CERTAIN_MS = 200;
const BUSY = `is being changed by another process for more than ${MAX_WAIT_MS / 1000} s; try again`;
const NOT_AS_SEALED = 'it differs from its checksums; run `llmbench runs verify` for details';
/** Distinguishes the drafts of one process. */
let drafts = 0;

/**
 * Changes the run.json of a finished run and its checksums atomically; concurrent processes take turns. Returns the new
 * run.json. Throws a `DamagedRunError` if the file differs from its checksum, an error if another process does not
 * complete its change, and the file system's error.
 */
export async function editRun(store: RunStore, runId: string, change: (run: RunFile) => RunFile): Promise<RunFile> {
  await store.checkWritable();
  const folder = store.pathOf(runId);
  const journal = editPath(store.directory, runId);
  const draft = join(unfinishedDirectory(store.directory), draftName(runId, ownIdentity(), drafts++));
  let seen = { files: '', since: Date.now() };
  let intactAt = Date.now();
  for (;;) {
    const { edit, changed, sealed, files } = await plannedEdit(folder, change);
    if (sealed) {
      await replaceFile(draft, JSON.stringify(edit));
      if (await begin(draft, journal)) {
        const applied = await applyEdit(folder, edit);
        await rm(journal, { force: true });
        if (applied) return changed;
      }
    }
    // Another process is changing the run, or ended while doing so.
    const isChanging = await recoverEdit(store.directory, runId);
    const now = Date.now();
    if (files !== seen.files) seen = { files, since: now };
    // Files that were read in the midst of a change differ from each other as well, but not in the same way again.
    if (sealed || isChanging) intactAt = now;
    if (now - Math.max(intactAt, seen.since) > CERTAIN_MS) {
      throw new DamagedRunError(runFilePath(folder), NOT_AS_SEALED);
    }
    if (now - seen.since > MAX_WAIT_MS) throw new Error(`${folder} ${BUSY}`);
    await pause(PAUSE_MS);
  }
}

/**
 * Whether this process may make the change: only one process can create the name, and readers of it find the complete
 * change.
 */
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

async function plannedEdit(
  folder: string,
  change: (run: RunFile) => RunFile,
): Promise<{ edit: Edit; changed: RunFile; sealed: boolean; files: string }> {
  const base = textSha256(await readRegularFile(runFilePath(folder)));
  const changed = change(await readRunFile(folder));
  const run = `${JSON.stringify(changed, null, 2)}\n`;
  const sums = await readChecksums(folder);
  const checksums = sums && checksumsText(new Map([...sums, [RUN_FILE, textSha256(run)]]));
  const sealed = sums === null || sums.get(RUN_FILE) === base;
  const files = `${base} ${sums?.get(RUN_FILE)}`;
  return { edit: { owner: ownIdentity(), base, run, checksums }, changed, sealed, files };
}
