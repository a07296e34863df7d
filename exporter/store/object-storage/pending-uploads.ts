import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunId } from '../../../core/run/run-id.ts';
import { codeOf } from '../../errors/expected-error.ts';
import { replaceFile } from '../../files/durable-file.ts';
import { makeDirectory } from '../../files/exists.ts';
import { parseStorageUrl, storageUrl, type StorageLocation } from '../storage-location.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';

/** In a runs directory: a file for each run whose upload has not been completed, with the URL of where it goes. */
const FOLDER = '.uploads';
const pendingPath = (runsDirectory: string, runId: string): string => join(runsDirectory, FOLDER, runId);

/** Notes that a run is to be uploaded, so that a later command does it if this one cannot. Throws the file system's error. */
export async function planUpload(runsDirectory: string, runId: string, location: StorageLocation): Promise<void> {
  await makeDirectory(join(runsDirectory, FOLDER));
  await replaceFile(pendingPath(runsDirectory, runId), `${storageUrl(location)}\n`);
}

/** To be called when a run has been uploaded. */
export async function forgetUpload(runsDirectory: string, runId: string): Promise<void> {
  await rm(pendingPath(runsDirectory, runId), { force: true });
}

/** The finished runs that are to be uploaded to a location, oldest first by name. Throws the file system's error. */
export async function pendingUploads(runsDirectory: string, location: StorageLocation): Promise<string[]> {
  const pending: string[] = [];
  for (const runId of (await entries(join(runsDirectory, FOLDER))).filter(isRunId).sort()) {
    const url = await readRegularFile(pendingPath(runsDirectory, runId)).catch(() => '');
    if (isLocation(url.trim(), location)) pending.push(runId);
  }
  return pending;
}

function isLocation(url: string, location: StorageLocation): boolean {
  try {
    return storageUrl(parseStorageUrl(url)) === storageUrl(location);
  } catch {
    return false;
  }
}

async function entries(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
