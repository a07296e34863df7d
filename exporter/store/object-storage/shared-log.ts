import { setTimeout as pause } from 'node:timers/promises';
import { StorageError } from '../../errors/expected-error.ts';
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

/** Logs are read into memory; larger ones are rejected. */
export const MAX_LOG_BYTES = 256 * 1024 * 1024;
/** Of writers at the same moment at least one succeeds, so that as many writers always finish. */
const ATTEMPTS = 100;
const MAX_PAUSE_MS = 1000;

/**
 * Appends one entry as one line to a log in object storage, which has no appending: the whole log is written again, on the
 * condition that no one else has changed it. Returns the log. Throws a `StorageError`, also when the server ignores conditions.
 */
export async function appendToSharedLog(storage: ObjectStorage, name: string, entry: object): Promise<string> {
  await requireConditions(storage);
  const line = JSON.stringify(entry);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await storage.readText(name, MAX_LOG_BYTES);
    const before = found?.text ?? '';
    // The response to a write may have been lost.
    if (attempt > 0 && before.split('\n').includes(line)) return before;
    const closing = before === '' || before.endsWith('\n') ? '' : '\n';
    const after = `${before}${closing}${line}\n`;
    if (await storage.writeText(name, after, found === null ? { absent: true } : { etag: found.etag })) return after;
    await pause(Math.random() * Math.min(MAX_PAUSE_MS, 20 * (attempt + 1)));
  }
  throw new StorageError(
    'other',
    `cannot append to ${storage.url}/${name}: others changed it ${ATTEMPTS} times meanwhile`,
  );
}
