import { closeSync, openSync, readSync, rmSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { BlockShelf } from '../../core/measures/ascending-values.ts';

/** A run of up to 8,191 requests needs no file. */
const BLOCKS_IN_MEMORY = 1;

const writeInBackground = promisify(write);

/**
 * `background` disturbs no measurement, and holds the blocks that wait for the disk; `waiting` holds none, however fast
 * they come, and compresses them.
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
  /** Where the bytes of each block in the file begin; at the end, where the next one's will. */
  readonly #starts: number[] = [0];

  /** `path` is where the file is created if needed; it must not exist. */
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
    const place = n - this.#inMemory;
    const start = this.#starts[place] ?? 0;
    const bytes = new Uint8Array((this.#starts[place + 1] ?? start) - start);
    for (let at = 0; at < bytes.length;) {
      const length = readSync(this.#file, bytes, at, bytes.length - at, start + at);
      if (length === 0) throw new RangeError(`the file of block ${n} is too short`);
      at += length;
    }
    if (this.#how === 'background') return new Float64Array(bytes.buffer);
    const plain = zstdDecompressSync(bytes, WHOLE);
    return new Float64Array(plain.buffer, plain.byteOffset, plain.length / Float64Array.BYTES_PER_ELEMENT);
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
      const bytes = bytesOf(block);
      const { file, start } = this.#placeFor(bytes);
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
      const bytes = zstdCompressSync(bytesOf(block), FAST);
      const { file, start } = this.#placeFor(bytes);
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at, start + at);
      this.#held.delete(n);
    } catch {
      this.#failed = true;
    }
  }

  /** Where the next block is written, in the file, which is created for the first. */
  #placeFor({ length }: Uint8Array): { file: number; start: number } {
    const file = (this.#file ??= unnamedFile(this.#path));
    const start = this.#starts.at(-1) ?? 0;
    this.#starts.push(start + length);
    return { file, start };
  }
}

/** A block is put together from so large pieces: most are one. */
const WHOLE = { chunkSize: 2 ** 20 };
const FAST = { ...WHOLE, params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

function unnamedFile(path: string): number {
  const file = openSync(path, 'wx+', 0o600);
  rmSync(path);
  return file;
}
