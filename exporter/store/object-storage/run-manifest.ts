import { join } from 'node:path';
import { StorageError } from '../../errors/storage-errors.ts';
import {
  CHECKSUMS_FILE,
  checksumsOf,
  checksumsText,
  parseChecksums,
  readChecksums,
  type Checksums,
} from '../sealed/checksums.ts';
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
