import { join, dirname } from 'node:path';
import { mkdir, rename } from 'node:fs/promises';
import { StorageError, codeOf } from '../../errors/expected-error.ts';
import { replaceFile, syncPath } from '../../files/durable-file.ts';
import { startHeartbeat, ownIdentity } from '../../files/process-identity.ts';
import { claimedName, unfinishedDirectory } from '../run-paths.ts';
import type { RunStore } from '../run-store.ts';
import {
  CHECKSUMS_FILE,
  checksumsOf,
  checksumsText,
  parseChecksums,
  readChecksums,
  type Checksums,
} from '../sealed/checksums.ts';
import { discardFolder } from '../temporary-file.ts';
import type { ObjectStorage } from './object-storage.ts';

/** A run has some ten files. */
const MAX_BYTES = 1024 * 1024;
const FILE_NAME = /^(?!\.)[0-9A-Za-z._-]+(\/(?!\.)[0-9A-Za-z._-]+){0,3}$/;

/** The manifest of a run in object storage: its checksums, uploaded after everything else. A run without it is incomplete. */
export const manifestName = (runId: string): string => `${runId}/${CHECKSUMS_FILE}`;

/** The manifest of a stored run; null if it is missing or not complete. Throws a `StorageError`. */
export async function readManifest(storage: ObjectStorage, runId: string): Promise<Checksums | null> {
  const found = await storage.readText(manifestName(runId), MAX_BYTES);
  if (found === null) return null;
  const sums = parseManifest(found.text);
  if (sums === null) {
    throw new StorageError('damaged', `${storage.url}/${manifestName(runId)} is not the manifest of a run`);
  }
  return sums;
}

/** Null if the text is not the manifest of a run. */
export function parseManifest(text: string): Checksums | null {
  const sums = parseChecksums(text);
  const wrong = [...sums.keys()].find((path) => !FILE_NAME.test(path));
  return wrong !== undefined || !sums.has('run.json') || checksumsText(sums) !== text ? null : sums;
}

/** The manifest of a run on this machine. Of a run that was sealed without checksums they are computed. */
export async function localManifest(folder: string): Promise<Checksums> {
  return (await readChecksums(folder)) ?? (await checksumsOf(folder));
}

/** Files in which two manifests of the same run differ. */
export function differingFiles(a: Checksums, b: Checksums): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path));
}

/** The path of a file of a run. */
export const filePath = (folder: string, name: string): string => join(folder, ...name.split('/'));

const RUN_FILE = 'run.json';
const REPORT = 'report.html';

/**
 * Downloads files of a stored run into a new run folder, which appears when all of them are there and equal their
 * checksums. `wanted` are names in the manifest, or `report.html`. False if a run of that name exists already. Throws a
 * `StorageError` and the file system's error; then nothing is left.
 */
export async function downloadRun(
  storage: ObjectStorage,
  store: Pick<RunStore, 'directory' | 'pathOf'>,
  runId: string,
  manifest: Checksums,
  wanted: (name: string) => boolean,
): Promise<boolean> {
  const final = store.pathOf(runId);
  const folder = filePath(unfinishedDirectory(store.directory), claimedName(runId, ownIdentity()));
  // While it has this name it belongs to this process; if the process ends, opening the store removes it.
  await mkdir(folder, { recursive: true });
  const heartbeat = startHeartbeat(folder);
  try {
    // run.json is the last file: a folder with it is complete.
    for (const [name, sha256] of [...manifest].sort(([a], [b]) => Number(a === RUN_FILE) - Number(b === RUN_FILE))) {
      if (wanted(name)) await downloadFile(storage, runId, name, folder, sha256);
    }
    if (wanted(REPORT)) await storage.download(`${runId}/${REPORT}`, filePath(folder, REPORT), null);
    await replaceFile(filePath(folder, CHECKSUMS_FILE), checksumsText(manifest));
    await rename(folder, final);
    await syncPath(dirname(final));
    return true;
  } catch (error) {
    await discardFolder(store.directory, folder, runId);
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOTEMPTY') return false;
    throw error;
  } finally {
    heartbeat.stop();
  }
}

/** Downloads one file of a run into `folder`. Throws a `StorageError` if it is missing or differs from its checksum. */
export async function downloadFile(
  storage: ObjectStorage,
  runId: string,
  name: string,
  folder: string,
  sha256: string,
): Promise<void> {
  const path = filePath(folder, name);
  await mkdir(dirname(path), { recursive: true });
  if (await storage.download(`${runId}/${name}`, path, sha256)) return;
  throw new StorageError('damaged', `${storage.url}/${runId}/${name} is missing`);
}
