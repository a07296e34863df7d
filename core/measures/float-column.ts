const BLOCK_LENGTH = 16_384;

/** Numbers that are appended one by one. Grows block by block, so that appending never copies what is there. */
export class FloatColumn {
  readonly #blocks: Float64Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(value: number): void {
    const at = this.#length % BLOCK_LENGTH;
    if (at === 0) this.#blocks.push(new Float64Array(BLOCK_LENGTH));
    const block = this.#blocks[this.#blocks.length - 1];
    if (block !== undefined) block[at] = value;
    this.#length += 1;
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
