const BLOCK_LENGTH = 16_384;
/** Many columns hold few numbers: the first block begins small. */
const FIRST_LENGTH = 64;

/** Numbers that are appended one by one. Grows block by block, so that appending copies at most the first block. */
export class FloatColumn {
  readonly #blocks: (Float64Array | Float32Array)[] = [];
  readonly #Block: Float64ArrayConstructor | Float32ArrayConstructor;
  #length = 0;

  /** `single` keeps 4 bytes instead of 8 of each number: enough for whole numbers up to 2^24. */
  constructor(precision: 'double' | 'single' = 'double') {
    this.#Block = precision === 'double' ? Float64Array : Float32Array;
  }

  get length(): number {
    return this.#length;
  }

  append(value: number): void {
    const at = this.#length % BLOCK_LENGTH;
    if (at === 0) this.#blocks.push(new this.#Block(this.#length === 0 ? FIRST_LENGTH : BLOCK_LENGTH));
    let block = this.#blocks[this.#blocks.length - 1];
    if (block?.length === at) {
      const larger = new this.#Block(2 * at);
      larger.set(block);
      this.#blocks[this.#blocks.length - 1] = block = larger;
    }
    if (block !== undefined) block[at] = value;
    this.#length += 1;
  }

  /** Appends a number, or replaces the one that is at the position. */
  set(index: number, value: number): void {
    const block = this.#blocks[Math.floor(index / BLOCK_LENGTH)];
    if (index >= this.#length) this.append(value);
    else if (block !== undefined) block[index % BLOCK_LENGTH] = value;
  }

  /** The number at a position; NaN where there is none. */
  at(index: number): number {
    return this.#blocks[Math.floor(index / BLOCK_LENGTH)]?.[index % BLOCK_LENGTH] ?? NaN;
  }

  /** All of it in one array, in the order of appending. */
  toArray(): Float64Array {
    const all = new Float64Array(this.#length);
    this.#blocks.forEach((block, i) => {
      const start = i * BLOCK_LENGTH;
      all.set(block.subarray(0, Math.min(BLOCK_LENGTH, this.#length - start)), start);
    });
    return all;
  }
}
