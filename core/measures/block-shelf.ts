/**
 * Keeps blocks of numbers that no longer change. Where is its own affair: a long run's blocks may lie in a file, so that
 * what a run needs in memory does not grow with its length.
 */
export interface BlockShelf {
  /** Takes a block over: no one may write into it afterwards. */
  put(block: Float64Array): void;
  /** The n-th block that was put, from 0; valid until the next call. Throws when it is gone. */
  block(n: number): Float64Array;
}

/** Keeps all blocks in memory. */
export class MemoryShelf implements BlockShelf {
  readonly #blocks: Float64Array[] = [];

  put(block: Float64Array): void {
    this.#blocks.push(block);
  }

  block(n: number): Float64Array {
    const block = this.#blocks[n];
    if (block === undefined) throw new RangeError(`there is no block ${n}`);
    return block;
  }
}

/** One shelf whose blocks belong to several. */
export class DividedShelf {
  readonly #shelf: BlockShelf;
  #blocks = 0;

  constructor(shelf: BlockShelf) {
    this.#shelf = shelf;
  }

  part(): BlockShelf {
    const places: number[] = [];
    return {
      put: (block) => {
        places.push(this.#blocks++);
        this.#shelf.put(block);
      },
      block: (n) => {
        const place = places[n];
        if (place === undefined) throw new RangeError(`there is no block ${n}`);
        return this.#shelf.block(place);
      },
    };
  }
}
