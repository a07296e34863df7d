const NONE = -1;

/** What a pool has done since it was made, in blocks. */
export interface BlockTotals {
  /** Handed out for new content. */
  readonly allocated: number;
  /** Full blocks that can be found from then on. */
  readonly registered: number;
  /** Full blocks whose content another block has already. */
  readonly duplicates: number;
}

/** Is reported what becomes of each block. */
export interface BlockObserver {
  /** Handed out for new content. */
  handedOut(block: number): void;
  /** A request takes it over with its content. */
  takenOver(block: number): void;
  /** Its content is given up, as it is about to be handed out again. */
  givenUp(block: number, hash: number): void;
}

/**
 * The blocks of the KV cache. A block in use has owners; a block without an owner is free but keeps its content, so that
 * a later prompt with the same beginning can take it over, until it is handed out again: the one that has been free the
 * longest goes first (vLLM's block pool).
 */
export class BlockPool {
  readonly size: number;
  readonly #owners: Int32Array;
  readonly #hashes: Float64Array;
  readonly #blockByHash = new Map<number, number>();
  // Free blocks as a doubly linked list, least recently freed first; index `size` is its head and tail.
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  readonly #observer: BlockObserver | null;
  #free: number;
  #cached = 0;
  #allocated = 0;
  #registered = 0;
  #duplicates = 0;

  constructor(size: number, observer: BlockObserver | null = null) {
    this.size = size;
    this.#observer = observer;
    this.#owners = new Int32Array(size);
    this.#hashes = new Float64Array(size).fill(NaN);
    this.#next = Int32Array.from({ length: size + 1 }, (_, i) => (i + 1) % (size + 1));
    this.#previous = Int32Array.from({ length: size + 1 }, (_, i) => (i + size) % (size + 1));
    this.#free = size;
  }

  get free(): number {
    return this.#free;
  }

  get used(): number {
    return this.size - this.#free;
  }

  /** Free blocks that still have content. */
  get cached(): number {
    return this.#cached;
  }

  get totals(): BlockTotals {
    return { allocated: this.#allocated, registered: this.#registered, duplicates: this.#duplicates };
  }

  /** The longest run of blocks, from the beginning of the prompt, whose content is in the cache. Takes nothing. */
  find(hashes: readonly number[], limit: number): number[] {
    const found: number[] = [];
    for (const hash of hashes) {
      const block = this.#blockByHash.get(hash);
      if (block === undefined || found.length === limit) break;
      found.push(block);
    }
    return found;
  }

  /**
   * Takes `cached` blocks and `fresh` new ones, or nothing at all.
   *
   * @returns the blocks in order, or null when there are too few free ones
   */
  take(cached: readonly number[], fresh: number): number[] | null {
    const revived = cached.reduce((n, block) => n + (this.#owners[block] === 0 ? 1 : 0), 0);
    if (revived + fresh > this.#free) return null;
    for (const block of cached) {
      this.#own(block);
      this.#observer?.takenOver(block);
    }
    const blocks = [...cached];
    for (let i = 0; i < fresh; i++) blocks.push(this.#takeOldest());
    return blocks;
  }

  /** Lets `block` be found by `hash` from now on, unless another block already is. */
  remember(block: number, hash: number): void {
    if (this.#blockByHash.has(hash)) {
      this.#duplicates++;
      return;
    }
    this.#registered++;
    this.#blockByHash.set(hash, block);
    this.#hashes[block] = hash;
  }

  /** Forgets what the blocks hold; false, and nothing is forgotten, while one is in use. */
  forget(): boolean {
    if (this.used > 0) return false;
    this.#blockByHash.clear();
    this.#hashes.fill(NaN);
    this.#cached = 0;
    return true;
  }

  /** Gives blocks back, the last first, so that the ends of prompts are reused before their beginnings. */
  release(blocks: readonly number[]): void {
    for (let i = blocks.length - 1; i >= 0; i--) {
      const block = blocks[i] ?? NONE;
      const owners = (this.#owners[block] ?? 0) - 1;
      if (owners < 0) throw new Error(`block ${block} was released more often than taken`);
      this.#owners[block] = owners;
      if (owners === 0) this.#append(block);
    }
  }

  #own(block: number): void {
    const owners = this.#owners[block] ?? 0;
    if (owners === 0) this.#unlink(block);
    this.#owners[block] = owners + 1;
  }

  #takeOldest(): number {
    const block = this.#next[this.size] ?? NONE;
    this.#allocated++;
    this.#own(block);
    const hash = this.#hashes[block] ?? NaN;
    if (!Number.isNaN(hash)) {
      this.#blockByHash.delete(hash);
      this.#hashes[block] = NaN;
      this.#observer?.givenUp(block, hash);
    }
    this.#observer?.handedOut(block);
    return block;
  }

  #unlink(block: number): void {
    const before = this.#previous[block] ?? NONE;
    const after = this.#next[block] ?? NONE;
    this.#next[before] = after;
    this.#previous[after] = before;
    this.#free--;
    if (this.#hasContent(block)) this.#cached--;
  }

  #append(block: number): void {
    const tail = this.#previous[this.size] ?? NONE;
    this.#next[tail] = block;
    this.#previous[block] = tail;
    this.#next[block] = this.size;
    this.#previous[this.size] = block;
    this.#free++;
    if (this.#hasContent(block)) this.#cached++;
  }

  #hasContent(block: number): boolean {
    return !Number.isNaN(this.#hashes[block] ?? NaN);
  }
}

/** How a block was used whose content was given up, as vLLM's KV cache metrics tell it. Nanoseconds. */
export interface BlockLife {
  /** Since the block was handed out for this content. */
  readonly lifetime_ns: number;
  /** Since a request took it over for the last time, or since it was handed out. */
  readonly idle_ns: number;
  /** Between the latest times that requests took it over. */
  readonly reuseGaps_ns: readonly number[];
}

/** So many of a block's latest uses are kept. */
const KEPT_USES = 4;

/** When the blocks of the KV cache were handed out and taken over. */
export class BlockLives {
  /** The present; to be set before blocks are moved. */
  now_ns = 0;
  readonly #begun_ns: Float64Array;
  readonly #uses_ns = new Map<number, number[]>();
  #ended: BlockLife[] = [];

  constructor(blocks: number) {
    this.#begun_ns = new Float64Array(blocks);
  }

  begin(block: number): void {
    this.#begun_ns[block] = this.now_ns;
    this.#uses_ns.delete(block);
  }

  use(block: number): void {
    const uses = this.#uses_ns.get(block);
    if (uses === undefined) this.#uses_ns.set(block, [this.now_ns]);
    else if (uses.push(this.now_ns) > KEPT_USES) uses.shift();
  }

  end(block: number): void {
    const begun_ns = this.#begun_ns[block] ?? this.now_ns;
    const uses = this.#uses_ns.get(block) ?? [];
    this.#ended.push({
      lifetime_ns: this.now_ns - begun_ns,
      idle_ns: this.now_ns - (uses.at(-1) ?? begun_ns),
      reuseGaps_ns: uses.slice(1).map((use_ns, i) => use_ns - (uses[i] ?? use_ns)),
    });
  }

  /** The lives that ended since the last call. */
  takeEnded(): BlockLife[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }
}
