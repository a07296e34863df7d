import { StorageError } from '../errors/expected-error.ts';
import { openStoreWithReports } from '../run/open-store.ts';
import { RunUploads } from '../run/run-uploads.ts';
import type { MirrorStore } from '../store/object-storage/mirror-store.ts';
import type { RunStore } from '../store/run-store.ts';
import { isStorageUrl, parseStorageUrl, type StorageAccess } from '../store/storage-location.ts';
import { CliError } from './failure.ts';
import type { RunOptions } from './options/run-options.ts';
import { environmentAccess, storageAccess } from './options/storage-options.ts';

/**
 * Opens the runs directory for a command and reports on stderr what was finished meanwhile. `check` is done before any
 * work on it. One in object storage is opened through its cache, which is brought up to date first. Throws an `ExpectedError`.
 */
export async function openRuns(
  runsDirectory: string,
  check: (store: RunStore) => Promise<unknown> = () => Promise.resolve(),
  access?: StorageAccess,
): Promise<RunStore> {
  if (isStorageUrl(runsDirectory)) {
    const mirror = await openMirrorOf(runsDirectory, access ?? environmentAccess());
    for (const problem of (await mirror.refresh()).problems) process.stderr.write(`${problem}\n`);
    await check(mirror);
    return mirror;
  }
  const { store, messages } = await openStoreWithReports(runsDirectory);
  for (const message of messages) process.stderr.write(`${message}\n`);
  await check(store);
  return store;
}

/** Opens the cache of a location; nothing is requested from there. Throws an `ExpectedError`. */
export async function openMirrorOf(url: string, access: StorageAccess, mostBytes?: number): Promise<MirrorStore> {
  const { openMirror } = await import('../store/object-storage/mirror-store.ts');
  return openMirror(locationOf(url), access, mostBytes);
}

function locationOf(url: string): ReturnType<typeof parseStorageUrl> {
  try {
    return parseStorageUrl(url);
  } catch (error) {
    throw new CliError(`the runs directory is '${url.slice(0, 200)}' and must be ${(error as Error).message}`);
  }
}

/** Where runs are uploaded to; null if they are not. Throws a `CliError` if nothing can be read there. */
export async function requestedUploads(options: RunOptions, say: (line: string) => void): Promise<RunUploads | null> {
  if (options.upload === null) return null;
  const uploads = new RunUploads(options.upload, storageAccess(options), options['upload-timeout'], say);
  try {
    await uploads.check();
  } catch (error) {
    if (error instanceof StorageError) throw new CliError(`--upload: ${error.message}`);
    throw error;
  }
  return uploads;
}
