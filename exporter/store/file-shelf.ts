import { closeSync, openSync, readSync, rmSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { BlockShelf } from '../../core/measures/ascending-values.ts';

/** A run of up to 8,191 requests needs no file. */
const BLOCKS_IN_MEMORY = 1;

const writeInBackground = promisify(write);

/**
 * `background` disturbs no measurement, and holds the blocks that wait for the disk; `waiting` holds none, however fast
 * they come.
 */
type Writing = 'background' | 'waiting';

/**
 * Keeps the first few blocks in memory and the rest in an unlinked file, which disappears with the process. A block
 * that cannot be written stays in memory.
 */
export class FileShelf implements BlockShelf {
  readonly #path: string;
  readonly #inMemory: number;
  readonly #how: Writing;
  readonly #held = new Map<number, Float64Array>();
  #blocks = 0;
  #file: number | null = null;
  #failed = false;
  #writing: Promise<void> = Promise.resolve();
  #read = new Float64Array();

  /** `path` is where the file is created if needed; it must not exist. All blocks have the same length. */
  constructor(path: string, blocksInMemory = BLOCKS_IN_MEMORY, how: Writing = 'background') {
    this.#path = path;
    this.#inMemory = blocksInMemory;
    this.#how = how;
  }

  put(block: Float64Array): void {
    const n = this.#blocks;
    this.#blocks += 1;
    this.#held.set(n, block);
    if (n < this.#inMemory || this.#failed) return;
    if (this.#how === 'waiting') this.#storeNow(n, block);
    else this.#writing = this.#writing.then(() => this.#store(n, block));
  }

  block(n: number): Float64Array {
    const held = this.#held.get(n);
    if (held !== undefined) return held;
    if (this.#file === null || n >= this.#blocks) throw new RangeError(`block ${n} does not exist`);
    const bytes = new Uint8Array(this.#read.buffer);
    const start = (n - this.#inMemory) * bytes.length;
    for (let at = 0; at < bytes.length;) {
      const length = readSync(this.#file, bytes, at, bytes.length - at, start + at);
      if (length === 0) throw new RangeError(`the file of block ${n} is too short`);
      at += length;
    }
    return this.#read;
  }

  /** Number of blocks in memory. */
  get heldBlocks(): number {
    return this.#held.size;
  }

  /** Resolves when all blocks have been written or are certain to stay in memory. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** Releases the file. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  async #store(n: number, block: Float64Array): Promise<void> {
    if (this.#failed) return;
    try {
      const { file, bytes, start } = this.#placeOf(n, block);
      for (let at = 0; at < bytes.length;) {
        at += (await writeInBackground(file, bytes, at, bytes.length - at, start + at)).bytesWritten;
      }
      this.#held.delete(n);
    } catch {
      // Nothing is lost: this block and the following ones stay in memory. A full disk is reported by the records.
      this.#failed = true;
    }
  }

  #storeNow(n: number, block: Float64Array): void {
    try {
      const { file, bytes, start } = this.#placeOf(n, block);
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at, start + at);
      this.#held.delete(n);
    } catch {
      this.#failed = true;
    }
  }

  /** Where a block is written, in the file, which is created for the first. */
  #placeOf(n: number, block: Float64Array): { file: number; bytes: Uint8Array; start: number } {
    const file = (this.#file ??= unnamedFile(this.#path));
    if (this.#read.length !== block.length) this.#read = new Float64Array(block.length);
    const bytes = new Uint8Array(block.buffer, block.byteOffset, block.byteLength);
    return { file, bytes, start: (n - this.#inMemory) * bytes.length };
  }
}

function unnamedFile(path: string): number {
  const file = openSync(path, 'wx+', 0o600);
  rmSync(path);
  return file;
}
