import { relative, sep } from 'node:path';
import { RunsDirectoryError } from '../../errors/expected-error.ts';
import { replaceFile } from '../../files/durable-file.ts';
import { makeDirectory } from '../../files/exists.ts';
import { dirname } from 'node:path';
import { RunStore } from '../run-store.ts';
import { completeRun, evictRuns } from './mirror-files.ts';
import { Mirroring, type Refreshed, type StorageFailure } from './mirroring.ts';
import type { ObjectStorage } from './object-storage.ts';
import { appendToSharedLog } from './shared-log.ts';

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
