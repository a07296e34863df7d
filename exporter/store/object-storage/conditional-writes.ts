import { StorageError } from '../../errors/storage-errors.ts';
import type { ObjectStorage } from './object-storage.ts';

const PROBE = '.llmbench-conditional-writes';

const conditional = new WeakSet<ObjectStorage>();

/**
 * Writes an object twice on the condition that it does not exist: a server that ignores conditions would lose what others
 * write. Throws a `StorageError`.
 */
export async function requireConditions(storage: ObjectStorage): Promise<void> {
  if (conditional.has(storage)) return;
  const create = (): Promise<boolean> =>
    storage.writeText(PROBE, 'made to test conditional writes\n', { absent: true });
  if ((await create()) && (await create())) {
    throw new StorageError(
      'unsupported',
      `${storage.url} cannot be written to by several machines: the server ignores If-None-Match, so that concurrent changes would be lost`,
    );
  }
  conditional.add(storage);
}
