import { readInBatches } from '../../files/read-in-batches.ts';
import type { ObjectStorage } from '../object-storage/object-storage.ts';
import { MOST_BYTES, parseSign, partOfSign, SIGNS, type ShardSign } from './rendezvous-objects.ts';

interface Seen {
  readonly etag: string;
  readonly sign: ShardSign | null;
  /** When the object was last seen to have changed, by this machine's monotonic clock. */
  readonly changed_ms: number;
}

/** The signs of life of a run's shards, as one of them sees them: no clocks of different machines are compared. */
export class ShardWatch {
  readonly #storage: Pick<ObjectStorage, 'entityTags' | 'readText'>;
  readonly #parts: number;
  readonly #lostAfter_ms: number;
  readonly #seen = new Map<number, Seen>();

  /** A shard whose sign has not changed for `lostAfter_ms` is lost. */
  constructor(storage: Pick<ObjectStorage, 'entityTags' | 'readText'>, parts: number, lostAfter_ms: number) {
    this.#storage = storage;
    this.#parts = parts;
    this.#lostAfter_ms = lostAfter_ms;
  }

  /** Reads the signs that have changed. Throws a `StorageError`. */
  async look(): Promise<void> {
    const tags = [...(await this.#storage.entityTags(SIGNS))].map(([name, etag]) => ({
      ...{ name, etag },
      part: partOfSign(name),
    }));
    const changed = tags.filter(({ part, etag }) => part < this.#parts && this.#seen.get(part)?.etag !== etag);
    await readInBatches(changed, async ({ name, part }) => {
      const found = await this.#storage.readText(name, MOST_BYTES);
      if (found === null) return;
      this.#seen.set(part, { etag: found.etag, sign: parseSign(found.text), changed_ms: performance.now() });
    });
  }

  /** Null: it has never given a sign. */
  signOf(part: number): ShardSign | null {
    return this.#seen.get(part)?.sign ?? null;
  }

  /** Whether it has given signs and gives none any more. One that has ended is not lost. */
  isLost(part: number): boolean {
    const seen = this.#seen.get(part);
    if (seen === undefined || seen.sign?.state === 'uploaded' || seen.sign?.state === 'failed') return false;
    return performance.now() - seen.changed_ms > this.#lostAfter_ms;
  }

  /** The numbers of the shards for which something holds. */
  which(holds: (sign: ShardSign | null, part: number) => boolean): number[] {
    return Array.from({ length: this.#parts }, (_, part) => part).filter((part) => holds(this.signOf(part), part));
  }
}
