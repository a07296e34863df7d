import { Buffer } from 'node:buffer';

const BLOCK_BYTES = 256 * 1024;
/** More are needed only while a disk is slow. */
const SPARE_BLOCKS = 4;
const LF = 10;

interface Block {
  readonly bytes: Buffer;
  /** Parts that were taken or wait to be, and are not released. */
  parts: number;
}

/** Bytes of complete lines. `release` it when they are no longer read. */
export interface TakenLines {
  readonly bytes: Buffer;
  readonly block: Block;
}

/**
 * Lines of ASCII text that wait to be written, as bytes in blocks. The blocks are outside the heap, so that the garbage
 * collector does not move them, and used again: a new block survives young collections while it is filled, so that only
 * collections of the entire heap would free it, several per second in a run with short requests.
 */
export class LineBlocks {
  #block: Block = { bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), parts: 0 };
  /** Of the current block: what is before `#taken` was taken, and the bytes up to `#filled` wait. */
  #taken = 0;
  #filled = 0;
  #full: TakenLines[] = [];
  readonly #spare: Block[] = [];

  /** Adds a line, which has no line end. */
  append(line: string): void {
    const length = line.length + 1;
    if (this.#filled + length > this.#block.bytes.length) this.#startBlock(length);
    const { bytes } = this.#block;
    this.#filled += bytes.write(line, this.#filled, 'latin1');
    bytes[this.#filled++] = LF;
  }

  /** All lines since the last call, in order. */
  take(): readonly TakenLines[] {
    // The rest of the block is filled on: frequent writes of few lines must not cost a block each.
    this.#endPart();
    const taken = this.#full;
    this.#full = [];
    return taken;
  }

  release({ block }: TakenLines): void {
    block.parts -= 1;
    this.#reuseIfFree(block);
  }

  #startBlock(atLeastBytes: number): void {
    this.#endPart();
    const previous = this.#block;
    const spare = atLeastBytes <= BLOCK_BYTES ? this.#spare.pop() : undefined;
    this.#block = spare ?? { bytes: Buffer.allocUnsafeSlow(Math.max(atLeastBytes, BLOCK_BYTES)), parts: 0 };
    this.#taken = this.#filled = 0;
    this.#reuseIfFree(previous);
  }

  #endPart(): void {
    if (this.#filled === this.#taken) return;
    this.#block.parts += 1;
    this.#full.push({ bytes: this.#block.bytes.subarray(this.#taken, this.#filled), block: this.#block });
    this.#taken = this.#filled;
  }

  #reuseIfFree(block: Block): void {
    if (block === this.#block || block.parts > 0) return;
    if (block.bytes.length === BLOCK_BYTES && this.#spare.length < SPARE_BLOCKS) this.#spare.push(block);
  }
}
