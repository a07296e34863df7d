import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isOwned } from './ownership.ts';
import { ownIdentity } from './process-identity.ts';

/** `<file>.<process id>~<its start>.tmp`: what one process writes before it takes the file's place. */
const TEMPORARY = /\.(\d+)~([0-9a-z]+\.\d+)\.tmp$/;

/** Folders in which this process has looked. */
const tidied = new Set<string>();

/**
 * The name under which the new content of a file that the user named is written, in the same folder. Removes what killed
 * processes have left in this folder, once per process. Never throws: the folder may not be readable.
 */
export async function besideOutput(path: string): Promise<string> {
  const folder = dirname(path);
  if (!tidied.has(folder)) {
    tidied.add(folder);
    // What others left must not prevent this output; writing it reports a folder that is not accessible.
    await removeLeft(folder).catch(() => undefined);
  }
  const { pid, start_time } = ownIdentity();
  return `${path}.${pid}~${start_time}.tmp`;
}

async function removeLeft(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid, start_time] = TEMPORARY.exec(name) ?? [];
    if (pid === undefined || start_time === undefined) continue;
    const left = join(folder, name);
    try {
      if (!(await isOwned({ pid: Number(pid), start_time }, left))) await rm(left);
    } catch {
      // Another process has removed it, or it is another user's.
    }
  }
}
