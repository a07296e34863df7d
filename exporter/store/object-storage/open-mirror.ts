import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { reasonOf, RunsDirectoryError } from '../../errors/expected-error.ts';
import { recoverRuns } from '../recovery/recover.ts';
import { MirrorStore } from './mirror-store.ts';
import { ObjectStorage } from './object-storage.ts';
import { storageUrl, type StorageAccess, type StorageLocation } from '../storage-location.ts';

/** Of the files besides summaries. */
export const DEFAULT_CACHE_BYTES = 4e9;

/**
 * Opens the cache of a location; nothing is requested from the storage. Throws a `StorageError` if the SDK is missing, and
 * a `RunsDirectoryError` if the cache cannot be written.
 */
export async function openMirror(
  location: StorageLocation,
  access: StorageAccess,
  mostBytes = DEFAULT_CACHE_BYTES,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<MirrorStore> {
  const storage = await ObjectStorage.open(location, access);
  const directory = cacheDirectory(location, access, environment);
  try {
    // Runs may hold prompts: no other user of this machine reads them.
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await recoverRuns(directory);
  } catch (error) {
    throw new RunsDirectoryError(
      `cannot use the cache ${directory}: ${reasonOf(error)}; set LLMBENCH_CACHE_DIR to a writable directory`,
      { cause: error },
    );
  }
  return new MirrorStore(directory, storage, mostBytes);
}

/** One folder for each location and server, so that runs of different places never mix. */
function cacheDirectory(
  location: StorageLocation,
  { endpoint }: StorageAccess,
  environment: NodeJS.ProcessEnv,
): string {
  const own = environment['LLMBENCH_CACHE_DIR'];
  const caches = own ?? join(environment['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'llmbench');
  const server = endpoint ?? environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL'] ?? '';
  const key = createHash('sha256')
    .update(JSON.stringify([server, storageUrl(location)]))
    .digest('hex')
    .slice(0, 16);
  return join(caches, 's3', `${location.bucket}-${key}`);
}
