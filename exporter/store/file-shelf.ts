import { readSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { BlockShelf } from '../../core/measures/block-shelf.ts';

/** A run of up to 8,191 requests needs no file. */
const BLOCKS_IN_MEMORY = 1;

/**
 * Keeps the first few blocks in memory and the rest in an unlinked file, which disappears with the process. A block
 * that cannot be written stays in memory.
 */
export class FileShelf implements BlockShelf {
  readonly #path: string;
  readonly #inMemory: number;
  readonly #held = new Map<number, Float64Array>();
  #blocks = 0;
  #file: FileHandle | null = null;
  #failed = false;
  #writing: Promise<void> = Promise.resolve();
  #read = new Float64Array();

  /** `path` is where the file is created if needed; it must not exist. All blocks have the same length. */
  constructor(path: string, blocksInMemory = BLOCKS_IN_MEMORY) {
    this.#path = path;
    this.#inMemory = blocksInMemory;
  }

  put(block: Float64Array): void {
    const n = this.#blocks;
    this.#blocks += 1;
    this.#held.set(n, block);
    if (n >= this.#inMemory && !this.#failed) this.#writing = this.#writing.then(() => this.#store(n, block));
  }

  block(n: number): Float64Array {
    const held = this.#held.get(n);
    if (held !== undefined) return held;
    if (this.#file === null || n >= this.#blocks) throw new RangeError(`block ${n} does not exist`);
    const bytes = new Uint8Array(this.#read.buffer);
    const start = (n - this.#inMemory) * bytes.length;
    for (let at = 0; at < bytes.length;) {
      const length = readSync(this.#file.fd, bytes, at, bytes.length - at, start + at);
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
    await this.#file?.close();
    this.#file = null;
  }

  async #store(n: number, block: Float64Array): Promise<void> {
    if (this.#failed) return;
    try {
      const file = (this.#file ??= await unnamedFile(this.#path));
      if (this.#read.length !== block.length) this.#read = new Float64Array(block.length);
      const bytes = new Uint8Array(block.buffer, block.byteOffset, block.byteLength);
      const start = (n - this.#inMemory) * bytes.length;
      for (let at = 0; at < bytes.length;) {
        at += (await file.write(bytes, at, bytes.length - at, start + at)).bytesWritten;
      }
      this.#held.delete(n);
    } catch {
      // Nothing is lost: this block and the following ones stay in memory. A full disk is reported by the records.
      this.#failed = true;
    }
  }
}

async function unnamedFile(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx+', 0o600);
  await rm(path);
  return file;
}
