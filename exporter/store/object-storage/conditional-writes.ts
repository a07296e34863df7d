import { StorageError } from '../../errors/storage-errors.ts';
import type { ObjectStorage } from './object-storage.ts';

const PROBE = '.llmbench-conditional-writes';
const TEXT = 'made to test conditional writes\n';
/** Not that of any object: entity tags are hashes or begin with one. */
const NO_TAG = '"not-an-entity-tag"';

const conditional = new WeakSet<ObjectStorage>();

/**
 * Writes an object on conditions that do not hold, that it does not exist and that it is another: a server that ignores
 * either would lose what others write. Throws a `StorageError`.
 */
export async function requireConditions(storage: ObjectStorage): Promise<void> {
  if (conditional.has(storage)) return;
  const create = (): Promise<boolean> => storage.writeText(PROBE, TEXT, { absent: true });
  if ((await create()) && (await create())) throw ignored(storage, 'If-None-Match');
  if (await storage.writeText(PROBE, TEXT, { etag: NO_TAG })) throw ignored(storage, 'If-Match');
  conditional.add(storage);
}

const ignored = ({ url }: ObjectStorage, header: string): StorageError =>
  new StorageError(
    'unsupported',
    `${url} cannot be written to by several machines: the server ignores ${header}, so that concurrent changes would be lost`,
  );
