import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import type { BlockStorage } from './packed-rows.ts';

/** Written at once. */
const BUFFER_BYTES = 65_536;
const LENGTH_BYTES = 4;
/** Most blocks are shorter: they are read at once. */
const FIRST_READ_BYTES = 1024;
/** Blocks read last, for readers that go through rows one by one. */
const RECENT_BLOCKS = 4096;

/**
 * Keeps blocks in a file, each with its length before it. Writes and reads are synchronous: they concern the system's
 * file cache, in pieces of 64 KiB, and the reader of a value cannot wait. If the file cannot be written, further blocks
 * stay in memory.
 */
export class BlockFile implements BlockStorage {
  readonly #file: number;
  readonly #buffer = Buffer.alloc(BUFFER_BYTES);
  /** Bytes of the file, and of the buffer, which is its continuation. */
  #written = 0;
  #buffered = 0;
  #isFull = false;
  readonly #recent = new Map<number, DataView>();

  /** `file` is the descriptor of an empty file, open for reading and writing. */
  constructor(file: number) {
    this.#file = file;
  }

  /** In a new file. It has no name afterwards, so that nothing is left of it. Throws file system errors. */
  static create(path: string): BlockFile {
    const file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return new BlockFile(file);
  }

  put(block: DataView): number | null {
    const size = LENGTH_BYTES + block.byteLength;
    if (size > BUFFER_BYTES) return null;
    if (this.#buffered + size > BUFFER_BYTES && !this.#flush()) return null;
    const place = this.#written + this.#buffered;
    this.#buffer.writeUInt32LE(block.byteLength, this.#buffered);
    this.#buffer.set(bytesOf(block), this.#buffered + LENGTH_BYTES);
    this.#buffered += size;
    return place;
  }

  at(place: number): DataView {
    const recent = this.#recent.get(place);
    if (recent !== undefined) return recent;
    const block = place >= this.#written ? this.#fromBuffer(place - this.#written) : this.#fromFile(place);
    if (this.#recent.size >= RECENT_BLOCKS) {
      const [oldest] = this.#recent.keys();
      if (oldest !== undefined) this.#recent.delete(oldest);
    }
    this.#recent.set(place, block);
    return block;
  }

  close(): void {
    closeSync(this.#file);
  }

  #flush(): boolean {
    if (this.#isFull) return false;
    try {
      for (let done = 0; done < this.#buffered;)
        done += writeSync(this.#file, this.#buffer, done, this.#buffered - done, this.#written + done);
    } catch {
      this.#isFull = true;
      return false;
    }
    this.#written += this.#buffered;
    this.#buffered = 0;
    return true;
  }

  #fromBuffer(start: number): DataView {
    const length = this.#buffer.readUInt32LE(start);
    const bytes = Uint8Array.prototype.slice.call(this.#buffer, start + LENGTH_BYTES, start + LENGTH_BYTES + length);
    return viewOf(bytes);
  }

  #fromFile(place: number): DataView {
    const first = this.#read(place, Math.min(FIRST_READ_BYTES, this.#written - place));
    const length = first.readUInt32LE(0);
    const block = first.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
    return viewOf(block.length === length ? block : this.#read(place + LENGTH_BYTES, length));
  }

  #read(place: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let done = 0; done < length;) {
      const count = readSync(this.#file, bytes, done, length - done, place + done);
      if (count === 0) throw new Error(`the file of collected samples ends before byte ${place + length}`);
      done += count;
    }
    return bytes;
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: DataView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);
