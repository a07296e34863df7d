import { relative, sep, dirname, join } from 'node:path';
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { RunsDirectoryError, reasonOf } from '../../errors/expected-error.ts';
import { replaceFile } from '../../files/durable-file.ts';
import { makeDirectory } from '../../files/exists.ts';
import { RunStore } from '../run-store.ts';
import { completeRun, evictRuns } from './mirror-files.ts';
import { Mirroring, type Refreshed, type StorageFailure } from './mirroring.ts';
import { ObjectStorage } from './object-storage.ts';
import { appendToSharedLog } from './shared-log.ts';
import { recoverRuns } from '../recovery/recover.ts';
import { storageUrl, type StorageAccess, type StorageLocation } from '../storage-location.ts';

/** How long `follow` waits between two looks at the storage. */
const FOLLOW_INTERVAL_MS = 15_000;

/**
 * The runs of a location in object storage, read through a cache that is a runs directory: the summaries of the newest runs
 * are there, and the other files of a run after its first use. Nothing is measured into it, and no run is changed; logs of
 * scenarios are appended to in the storage.
 */
export class MirrorStore extends RunStore {
  readonly storage: ObjectStorage;
  readonly #mostBytes: number;
  readonly #mirroring: Mirroring;
  readonly #completing = new Map<string, Promise<string>>();

  /** `mostBytes`: of the files in the cache besides summaries. */
  constructor(directory: string, storage: ObjectStorage, mostBytes: number) {
    super(directory);
    this.storage = storage;
    this.#mostBytes = mostBytes;
    this.#mirroring = new Mirroring(storage, this);
  }

  override get place(): string {
    return this.storage.url;
  }

  override get isFilling(): boolean {
    return this.#mirroring.isFilling;
  }

  override checkWritable(): Promise<void> {
    const { url } = this.storage;
    return Promise.reject(
      new RunsDirectoryError(
        `runs in ${url} cannot be changed from here: use a directory, and \`llmbench runs push --store ${url}\``,
      ),
    );
  }

  override whyReadOnly(): Promise<string | null> {
    return Promise.resolve('it is a cache of object storage');
  }

  override wholePathOf(runId: string): Promise<string> {
    const current = this.#completing.get(runId);
    if (current !== undefined) return current;
    const completing = this.#complete(runId).finally(() => this.#completing.delete(runId));
    this.#completing.set(runId, completing);
    return completing;
  }

  async #complete(runId: string): Promise<string> {
    const path = this.pathOf(runId);
    if (await completeRun(this.storage, this, runId)) await evictRuns(this, this.#mostBytes, runId);
    return path;
  }

  override async appendToLog(path: string, entry: object): Promise<void> {
    const name = relative(this.directory, path).replaceAll(sep, '/');
    const text = await appendToSharedLog(this.storage, name, entry);
    await makeDirectory(dirname(path));
    await replaceFile(path, text, this.temporaryFor);
  }

  /** Brings the cache up to date. Throws a `StorageError` if the storage cannot be read; the cache stays as it was. */
  refresh(): Promise<Refreshed> {
    return this.#mirroring.refresh();
  }

  /** Why the storage could not be read at the last look of `follow`; null if it could. */
  get failure(): StorageFailure | null {
    return this.#mirroring.failure;
  }

  /**
   * Refreshes now and again and again, until stopped. `say` receives lines for the user, one that stays true again after
   * some minutes.
   */
  follow(say: (line: string) => void): { stop(): void } {
    return this.#mirroring.follow(FOLLOW_INTERVAL_MS, say);
  }
}

/** Of the files besides summaries. */
const DEFAULT_CACHE_BYTES = 4e9;

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
