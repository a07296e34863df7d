import { stat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { exists, makeDirectory } from '../../files/exists.ts';
import { StorageError, DamagedRunError, codeOf } from '../../errors/expected-error.ts';
import { checksumsText, fileSha256 } from '../sealed/checksums.ts';
import type { RunStore } from '../run-store.ts';
import type { ObjectStorage } from './object-storage.ts';
import { packRuns } from './run-packs.ts';
import { differingFiles, filePath, localManifest, manifestName, readManifest } from './download-run.ts';
import { isRunId } from '../../../core/run/run-id.ts';
import { replaceFile } from '../../files/durable-file.ts';
import { parseStorageUrl, storageUrl, type StorageLocation } from '../storage-location.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';

/** Without a checksum in the manifest, because it can be written again at any time. */
const REPORT = 'report.html';
/** The one file of a finished run that may change: its tags. */
const RUN_FILE = 'run.json';

export interface UploadedRun {
  readonly run_id: string;
  /** `present`: it was complete there; `tagged`: so, with other tags than here. */
  readonly state: 'uploaded' | 'present' | 'tagged';
  readonly bytes: number;
}

/**
 * Uploads a finished run: its files first, and the manifest that makes it visible last. Files that an interrupted upload
 * left are not sent again. Safe for concurrent processes: no file of another run is replaced. Throws a `StorageError`, a
 * `DamagedRunError` if a file differs from its checksum, and the file system's error.
 */
export async function uploadRun(storage: ObjectStorage, store: RunStore, runId: string): Promise<UploadedRun> {
  const folder = store.pathOf(runId);
  const sums = await localManifest(folder);
  const stored = await readManifest(storage, runId);
  if (stored !== null) return { run_id: runId, state: stateOf(storage, runId, differingFiles(sums, stored)), bytes: 0 };
  let bytes = 0;
  // run.json is the last file, so that the files of two runs of one name never mix.
  for (const [name, sha256] of [...sums].sort(([a], [b]) => Number(a === RUN_FILE) - Number(b === RUN_FILE))) {
    bytes += await uploadFile(storage, { runId, folder, name, sha256 });
  }
  if (await exists(filePath(folder, REPORT))) {
    const path = filePath(folder, REPORT);
    const { size } = await stat(path);
    await storage.upload(`${runId}/${REPORT}`, path, { size, sha256: await fileSha256(path) }, false);
    bytes += size;
  }
  if (!(await storage.writeText(manifestName(runId), checksumsText(sums), { absent: true }))) {
    // Another process has completed the upload.
    const other = await readManifest(storage, runId);
    return { run_id: runId, state: stateOf(storage, runId, other === null ? [] : differingFiles(sums, other)), bytes };
  }
  return { run_id: runId, state: 'uploaded', bytes };
}

/**
 * Adds runs that were uploaded to the packs, from which readers take many at once. What cannot be added now is by those who
 * read: never throws a `StorageError`.
 */
export async function packUploaded(storage: ObjectStorage, store: RunStore, runIds: readonly string[]): Promise<void> {
  try {
    await packRuns(storage, store, runIds);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}

interface RunFilePart {
  readonly runId: string;
  readonly folder: string;
  readonly name: string;
  readonly sha256: string;
}

/** Returns the number of bytes that were sent. */
async function uploadFile(storage: ObjectStorage, { runId, folder, name, sha256 }: RunFilePart): Promise<number> {
  const path = filePath(folder, name);
  if ((await fileSha256(path)) !== sha256) throw new DamagedRunError(path, 'it differs from its checksum');
  const { size } = await stat(path);
  const object = `${runId}/${name}`;
  const there = await storage.stat(object);
  if (there?.size === size && there.sha256 === sha256) return 0;
  // It may have been tagged since an upload that was interrupted.
  const replaces = there !== null && name === RUN_FILE;
  if (there === null || replaces) {
    if (await storage.upload(object, path, { size, sha256 }, !replaces)) return size;
    const now = await storage.stat(object);
    if (now?.sha256 === sha256) return 0;
  }
  throw otherRun(storage, runId, name);
}

function stateOf(storage: ObjectStorage, runId: string, differing: readonly string[]): UploadedRun['state'] {
  const other = differing.find((name) => name !== RUN_FILE);
  if (other !== undefined) throw otherRun(storage, runId, other);
  return differing.length === 0 ? 'present' : 'tagged';
}

const otherRun = ({ url }: ObjectStorage, runId: string, name: string): StorageError =>
  new StorageError('damaged', `${url} has another run of the name ${runId}: its ${name} differs; nothing was replaced`);

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
