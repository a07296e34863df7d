import { statSync } from 'node:fs';
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { exists } from '../../files/exists.ts';
import { ownIdentity } from '../../files/process-identity.ts';
import { momentaryName, unfinishedDirectory } from '../run-paths.ts';
import { readChecksums } from '../sealed/checksums.ts';
import type { RunStore } from '../run-store.ts';
import { downloadFile, filePath } from './download-run.ts';
import type { ObjectStorage } from './object-storage.ts';

/** The files of every run in the cache; the others are brought when something reads them. */
const SUMMARY_FILES: readonly string[] = ['run.json', 'result.json', 'servers.json'];
const REPORT = 'report.html';
/** In a run folder that has all of its files; its time is that of the last use. */
const WHOLE = '.whole';
const STATS_AT_ONCE = 500;

export const isSummaryFile = (name: string): boolean => SUMMARY_FILES.includes(name);

/** Brings the missing files of a run into its folder in the cache. Throws a `StorageError` and the file system's error. */
export async function completeRun(storage: ObjectStorage, store: RunStore, runId: string): Promise<boolean> {
  const folder = store.pathOf(runId);
  const marker = join(folder, WHOLE);
  if (await exists(marker)) {
    const now = new Date();
    await utimes(marker, now, now);
    return false;
  }
  const manifest = (await readChecksums(folder)) ?? new Map<string, string>();
  const incoming = join(unfinishedDirectory(store.directory), momentaryName(runId, ownIdentity()));
  await mkdir(incoming, { recursive: true });
  try {
    for (const [name, sha256] of manifest) {
      if (isSummaryFile(name)) continue;
      if (!(await exists(filePath(folder, name)))) {
        await downloadFile(storage, runId, name, incoming, sha256);
        await mkdir(dirname(filePath(folder, name)), { recursive: true });
        await rename(filePath(incoming, name), filePath(folder, name));
      }
    }
    const report = filePath(incoming, REPORT);
    if (await storage.download(`${runId}/${REPORT}`, report, null)) {
      await rename(report, filePath(folder, REPORT));
    }
    await writeFile(marker, '');
    return true;
  } finally {
    await rm(incoming, { recursive: true, force: true });
  }
}

/**
 * Removes from the cache the files of the least recently used runs, except their summaries, until the others take at most
 * `mostBytes`. `kept` is the run that is about to be read.
 */
export async function evictRuns(store: RunStore, mostBytes: number, kept: string): Promise<void> {
  const whole: { readonly runId: string; readonly usedAt: number; readonly bytes: number }[] = [];
  const names = await store.names();
  for (const [i, runId] of names.entries()) {
    if (i % STATS_AT_ONCE === 0) await nextTurn();
    const used = statSync(join(store.pathOf(runId), WHOLE), { throwIfNoEntry: false });
    if (used !== undefined) whole.push({ runId, usedAt: used.mtimeMs, bytes: await largeBytes(store.pathOf(runId)) });
  }
  let total = whole.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { runId, bytes } of whole.sort((a, b) => a.usedAt - b.usedAt)) {
    if (total <= mostBytes) return;
    if (runId === kept) continue;
    await removeLargeFiles(store.pathOf(runId));
    total -= bytes;
  }
}

async function largeFiles(folder: string): Promise<string[]> {
  const manifest = (await readChecksums(folder)) ?? new Map<string, string>();
  return [...[...manifest.keys()].filter((name) => !isSummaryFile(name)), REPORT].map((name) => filePath(folder, name));
}

async function largeBytes(folder: string): Promise<number> {
  const sizes = (await largeFiles(folder)).map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function removeLargeFiles(folder: string): Promise<void> {
  // The marker first: a folder with it has all files.
  await rm(join(folder, WHOLE), { force: true });
  for (const path of await largeFiles(folder)) await rm(path, { force: true });
}
