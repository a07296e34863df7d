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

/** RepeatableValues that can be gone through any number of times, none of them NaN. */
export interface RepeatableValues {
  readonly length: number;
  readonly each: (visit: (value: number) => void) => void;
}

/** So many values are sorted in memory. */
const SORTED_AT_ONCE = 4_000_000;
const SLICES = 65_536;

/**
 * The values in ascending order. More than `sortedAtOnce` are divided by size into parts that lie on the shelf, in blocks of
 * `blockLength`, and each part is sorted when its turn comes: the time is linear, and the memory that of one part and of one
 * block of each. Many values in one of 65,536 equal slices of the range make a larger part.
 */
export function ascendingValues(
  values: RepeatableValues,
  shelf: BlockShelf,
  blockLength: number,
  sortedAtOnce = SORTED_AT_ONCE,
): Iterable<number> {
  if (values.length > sortedAtOnce) return divided(values, shelf, blockLength, sortedAtOnce);
  const all = new Float64Array(values.length);
  let at = 0;
  values.each((value) => (all[at++] = value));
  return all.sort();
}

interface Part {
  readonly places: number[];
  block: Float64Array;
  length: number;
}

function* divided(
  values: RepeatableValues,
  shelf: BlockShelf,
  blockLength: number,
  sortedAtOnce: number,
): Generator<number> {
  const sliceOf = slicer(values);
  const partOfSlice = partsOf(slicesOf(values, sliceOf), sortedAtOnce);
  const parts: Part[] = Array.from({ length: (partOfSlice.at(-1) ?? 0) + 1 }, () => ({
    places: [],
    block: new Float64Array(blockLength),
    length: 0,
  }));
  let blocks = 0;
  values.each((value) => {
    const part = parts[partOfSlice[sliceOf(value)] ?? 0];
    if (part === undefined) return;
    part.block[part.length++ % blockLength] = value;
    if (part.length % blockLength !== 0) return;
    shelf.put(part.block);
    part.places.push(blocks++);
    part.block = new Float64Array(blockLength);
  });
  for (const { places, block, length } of parts) {
    const sorted = new Float64Array(length);
    places.forEach((place, i) => sorted.set(shelf.block(place), i * blockLength));
    sorted.set(block.subarray(0, length % blockLength), places.length * blockLength);
    yield* sorted.sort();
  }
}

/** In which equal slice of their range a value lies. */
function slicer(values: RepeatableValues): (value: number) => number {
  let [min, max] = [Infinity, -Infinity];
  values.each((value) => {
    if (value < min) min = value;
    if (value > max) max = value;
  });
  const scale = max > min ? SLICES / (max - min) : 0;
  return (value) => Math.min(SLICES - 1, Math.floor((value - min) * scale));
}

function slicesOf(values: RepeatableValues, sliceOf: (value: number) => number): Uint32Array {
  const counts = new Uint32Array(SLICES);
  values.each((value) => {
    const slice = sliceOf(value);
    counts[slice] = (counts[slice] ?? 0) + 1;
  });
  return counts;
}

/** The part of each slice: neighbors share one as long as it holds at most `most` values. */
function partsOf(counts: Uint32Array, most: number): Uint32Array {
  let part = 0;
  let held = 0;
  return counts.map((count) => {
    if (held > 0 && held + count > most) {
      part += 1;
      held = 0;
    }
    held += count;
    return part;
  });
}
