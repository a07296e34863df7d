import { isRunId } from '../../../core/run/run-id.ts';
import type { ObjectStorage } from './object-storage.ts';
import { PACKS_FOLDER } from './run-packs.ts';

/** Where not all runs are shown, all are listed again after so many looks. */
const LOOKS_UNTIL_ALL = 20;

/** Some of the runs in the storage, in its order. */
interface RunsPart {
  readonly names: readonly string[];
  /** Whether a run would be among them, and is not. */
  readonly lacks: (runId: string) => boolean;
}

/** Looks at a storage with two listings each time: its packs, which change with each upload, and a part of everything else. */
export class StorageWatch {
  readonly #storage: ObjectStorage;
  /** Looks until all runs are listed at once. */
  #looks = 0;
  #hasOlder = false;
  #isLogsTurn = true;
  #next: string | null = null;
  /** The last folder of the part before. */
  #after = '';

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
  }

  /** Whether all runs must be listed. */
  get isDue(): boolean {
    return this.#looks === 0;
  }

  /** Whether there are runs beyond those that are shown. */
  get hasOlder(): boolean {
    return this.#hasOlder;
  }

  sawAll(hasOlder: boolean): void {
    this.#hasOlder = hasOlder;
    this.#looks = LOOKS_UNTIL_ALL;
  }

  /** The packs whose tags differ from those that were read. */
  async changedPacks(read: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    if (this.#hasOlder) this.#looks -= 1;
    const tags = await this.#storage.entityTags(PACKS_FOLDER);
    return new Map([...tags].filter(([name, tag]) => read.get(name) !== tag));
  }

  /** By turns the logs and the next folders. */
  async somePart(): Promise<'logs' | RunsPart> {
    this.#isLogsTurn = !this.#isLogsTurn || this.#hasOlder;
    if (this.#isLogsTurn) return 'logs';
    const { names, next } = await this.#storage.someFolders(this.#next);
    const after = this.#after;
    const last = next === null ? null : `${names.at(-1) ?? ''}/`;
    this.#next = next;
    this.#after = last ?? '';
    const there = new Set(names);
    return {
      names: names.filter(isRunId),
      lacks: (runId) => {
        const place = `${runId}/`;
        return place > after && (last === null || place <= last) && !there.has(runId);
      },
    };
  }
}
