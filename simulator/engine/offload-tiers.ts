/** A place below the device where the content of KV blocks is kept when the device needs their room. */
export interface OffloadTier {
  /** E.g. `host` or `disk`. */
  readonly name: string;
  readonly blocks: number;
  /** What one block that comes back from here adds to the step that needs it. */
  readonly loadMillisecondsPerBlock: number;
}

/** What moved since the last look, in blocks; the arrays have one element per tier. */
export interface TierTraffic {
  /** Blocks whose content left the device. */
  readonly evicted: number;
  readonly stored: readonly number[];
  /** Left the last tier, or the device when there is no tier. */
  readonly dropped: number;
}

/**
 * Tiers below the device, the fastest first. What the device gives up goes into the first, what that gives up into the
 * second, and so on, the least recently used first; what is taken back stays where it was, as in SGLang's HiCache.
 */
export class OffloadTiers {
  readonly #tiers: readonly { readonly size: number; readonly hashes: Set<number> }[];
  #evicted = 0;
  #stored: number[];
  #dropped = 0;

  constructor(tiers: readonly OffloadTier[]) {
    this.#tiers = tiers.map(({ blocks }) => ({ size: blocks, hashes: new Set<number>() }));
    this.#stored = tiers.map(() => 0);
  }

  /** Blocks with content in each tier. */
  get used(): number[] {
    return this.#tiers.map(({ hashes }) => hashes.size);
  }

  /** The tier of each block of the run that begins with `hashes[from]`, at most up to `limit`. */
  find(hashes: readonly number[], from: number, limit: number): number[] {
    const found: number[] = [];
    for (let i = from; i < Math.min(limit, hashes.length); i++) {
      const hash = hashes[i] ?? NaN;
      const tier = this.#tiers.findIndex((candidate) => candidate.hashes.has(hash));
      if (tier < 0) break;
      found.push(tier);
    }
    return found;
  }

  /** Notes that blocks were taken back: they are the most recently used now. */
  touch(hashes: readonly number[]): void {
    for (const { hashes: own } of this.#tiers) {
      for (const hash of hashes) if (own.delete(hash)) own.add(hash);
    }
  }

  /** Forgets what all tiers hold. */
  forget(): void {
    for (const { hashes } of this.#tiers) hashes.clear();
  }

  /** Takes in what leaves the device. */
  store(hash: number): void {
    this.#evicted++;
    let leaving: number | undefined = hash;
    for (const [index, { size, hashes }] of this.#tiers.entries()) {
      if (hashes.delete(leaving)) {
        hashes.add(leaving);
        return;
      }
      hashes.add(leaving);
      this.#stored[index] = (this.#stored[index] ?? 0) + 1;
      if (hashes.size <= size) return;
      leaving = hashes.values().next().value;
      if (leaving === undefined) return;
      hashes.delete(leaving);
    }
    this.#dropped++;
  }

  /** What moved since the last call. */
  takeTraffic(): TierTraffic {
    const traffic = { evicted: this.#evicted, stored: this.#stored, dropped: this.#dropped };
    this.#evicted = 0;
    this.#dropped = 0;
    this.#stored = this.#tiers.map(() => 0);
    return traffic;
  }
}
