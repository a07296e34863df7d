import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { isRunId } from '../../../core/run/run-id.ts';
import { StorageError, codeOf } from '../../errors/expected-error.ts';
import { ownIdentity } from '../../files/process-identity.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';
import { discardFolder } from '../temporary-file.ts';
import { claimedName, unfinishedDirectory } from '../run-paths.ts';
import type { RunStore } from '../run-store.ts';
import { CHECKSUMS_FILE, checksumsText, textSha256, type Checksums } from '../sealed/checksums.ts';
import { requireConditions } from './shared-log.ts';
import { isSummaryFile } from './mirror-files.ts';
import type { ObjectStorage } from './object-storage.ts';
import { filePath, localManifest, parseManifest } from './download-run.ts';

/** The folder of the packs in object storage: not the name of a run. */
export const PACKS_FOLDER = '.llmbench-index';

/** 10,000 runs, as many as are shown, are some 300 in each. */
const PACKS = 32;
const MAX_PACKED_BYTES = 128 * 1024 * 1024;
const MAX_BYTES = 512 * 1024 * 1024;
/** Pieces of 16 kB, the default, take longer to join than to decompress. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** A larger run is not packed: it would be sent again with each other run of its pack. */
const MAX_RUN_BYTES = 1024 * 1024;
const ATTEMPTS = 8;
const MAX_PAUSE_MS = 500;

const compressed = promisify(zstdCompress);
const decompressed = promisify(zstdDecompress);

/** What a cache holds of every run: its manifest and its summary files, as texts by their names. */
interface PackedRun {
  readonly manifest: string;
  readonly files: Readonly<Record<string, string>>;
}

interface Pack {
  readonly runs: Map<string, PackedRun>;
  readonly etag: string;
}

/** The pack of a run, by a hash of its name: those who write and those who read agree without a common list. */
export function packOf(runId: string): string {
  const [first = 0] = createHash('sha256').update(runId).digest();
  return `${PACKS_FOLDER}/${String(first % PACKS).padStart(2, '0')}.json.zst`;
}

/** Null if it does not exist, or is not a pack: then it is made again. Throws a `StorageError`. */
export async function readPack(storage: ObjectStorage, name: string): Promise<Pack | null> {
  const found = await storage.readBytes(name, MAX_PACKED_BYTES);
  if (found === null) return null;
  return { runs: await parsedRuns(found.bytes), etag: found.etag };
}

async function parsedRuns(bytes: Buffer): Promise<Map<string, PackedRun>> {
  try {
    const text = (await decompressed(bytes, { maxOutputLength: MAX_BYTES, chunkSize: PIECE_BYTES })).toString('utf8');
    const { runs } = JSON.parse(text) as { runs: Record<string, PackedRun> };
    return new Map(Object.entries(runs));
  } catch {
    return new Map();
  }
}

/**
 * Puts a packed run into a runs directory that was opened, as a cache holds it. False if its files are not those of its manifest, or the run
 * is there. Nothing is synchronized to disk: it can be brought again. Throws the file system's error.
 */
export async function unpackRun(store: RunStore, runId: string, packed: PackedRun): Promise<boolean> {
  const manifest = verifiedManifest(packed);
  if (manifest === null) return false;
  const folder = filePath(unfinishedDirectory(store.directory), claimedName(runId, ownIdentity()));
  try {
    await mkdir(folder);
    const files = [...Object.entries(packed.files), [CHECKSUMS_FILE, checksumsText(manifest)] as const];
    await Promise.all(files.map(([name, text]) => writeFile(filePath(folder, name), text)));
    await rename(folder, store.pathOf(runId));
    return true;
  } catch (error) {
    await discardFolder(store.directory, folder, runId);
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOTEMPTY') return false;
    throw error;
  }
}

/** The manifest if each summary file that it names is there with its checksum, and no other file. */
function verifiedManifest({ manifest: text, files }: PackedRun): Checksums | null {
  try {
    const manifest = parseManifest(text);
    const names = [...(manifest?.keys() ?? [])].filter(isSummaryFile);
    const isWhole =
      names.length === Object.keys(files).length &&
      names.every((name) => textSha256(files[name] ?? '') === manifest?.get(name));
    return isWhole ? manifest : null;
  } catch {
    return null;
  }
}

/**
 * Adds runs of a directory, which are in object storage, to their packs, so that a reader needs a few requests for hundreds
 * of runs. `present`: all runs in the storage; the others are removed from the packs. Throws a `StorageError`, also when the
 * server ignores conditions.
 */
export async function packRuns(
  storage: ObjectStorage,
  store: RunStore,
  runIds: readonly string[],
  present: ReadonlySet<string> | null = null,
): Promise<void> {
  if (runIds.length === 0) return;
  await requireConditions(storage);
  const groups = Map.groupBy(runIds, packOf);
  for (const [name, ids] of groups) {
    const added = new Map<string, PackedRun>();
    for (const runId of ids) {
      const packed = await packedRun(store, runId);
      if (packed !== null) added.set(runId, packed);
    }
    if (added.size > 0) await changePack(storage, name, added, present);
  }
}

async function changePack(
  storage: ObjectStorage,
  name: string,
  added: ReadonlyMap<string, PackedRun>,
  present: ReadonlySet<string> | null,
): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const before = await readPack(storage, name);
    const kept = [...(before?.runs ?? [])].filter(([runId]) => isRunId(runId) && present?.has(runId) !== false);
    const isThere =
      before !== null && [...added].every(([runId, { manifest }]) => before.runs.get(runId)?.manifest === manifest);
    if (isThere && kept.length === before.runs.size) return;
    const runs = Object.fromEntries(new Map([...kept, ...added]));
    const bytes = await compressed(Buffer.from(JSON.stringify({ runs }), 'utf8'));
    if (await storage.write(name, bytes, before === null ? { absent: true } : { etag: before.etag })) return;
    await pause(Math.random() * MAX_PAUSE_MS);
  }
  throw new StorageError('other', `cannot write ${storage.url}/${name}: others changed it ${ATTEMPTS} times meanwhile`);
}

/** Null if it is too large, or gone in the meantime. */
async function packedRun(store: RunStore, runId: string): Promise<PackedRun | null> {
  try {
    const folder = store.pathOf(runId);
    const manifest = await localManifest(folder);
    const names = [...manifest.keys()].filter(isSummaryFile);
    const texts = await Promise.all(names.map((name) => readRegularFile(filePath(folder, name))));
    if (texts.reduce((sum, text) => sum + text.length, 0) > MAX_RUN_BYTES) return null;
    const packed = {
      manifest: checksumsText(manifest),
      files: Object.fromEntries(names.map((name, i) => [name, texts[i] ?? ''])),
    };
    return verifiedManifest(packed) === null ? null : packed;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
