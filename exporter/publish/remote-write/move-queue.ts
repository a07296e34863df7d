import { renameSync } from 'node:fs';
import { codeOf } from '../../errors/store-errors.ts';

/** More queues of one shard of one run than anybody leaves. */
const MAX_QUEUES = 1000;
const TAKEN: ReadonlySet<string | null> = new Set(['ENOTEMPTY', 'EEXIST']);

/**
 * Renames the folder of a queue to the first free name, and returns it: `suffix` is empty, or `-2`, `-3` and so on where
 * queues of the same shard of a run exist, such as those of repeated backfills. Throws the file system's error.
 */
export function moveQueue(folder: string, nameWith: (suffix: string) => string): string {
  for (let number = 1; ; number += 1) {
    const name = nameWith(number === 1 ? '' : `-${number}`);
    try {
      if (name !== folder) renameSync(folder, name);
      return name;
    } catch (error) {
      if (!TAKEN.has(codeOf(error)) || number === MAX_QUEUES) throw error;
    }
  }
}
