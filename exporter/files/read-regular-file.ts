import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Windows has neither flag, nor FIFOs in folders. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/**
 * The text of a regular file. Symbolic links (which may point outside the runs directory), FIFOs (which would block)
 * and devices are rejected. Throws the file system's error, `ELOOP` for a symbolic link.
 */
export async function readRegularFile(path: string): Promise<string> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error('it is not a regular file');
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
