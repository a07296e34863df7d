import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { RequestRecord } from '../../core/run/record.ts';
import { recordLine } from './record-line.ts';
import { reasonOf } from './store-errors.ts';

const FLUSH_INTERVAL_MS = 500;
/** Written before the interval is over when that much waits. */
const FLUSH_BYTES = 1_000_000;
/** What may wait for a slow disk before records are given up. */
const PENDING_BYTES_LIMIT = 64_000_000;
const BLOCK_BYTES = 256 * 1024;
const LF = 10;

/**
 * Appends records to a JSONL file while a run lasts; what is not known is left out of a line. `append` only puts the line
 * into memory; lines are handed to the operating system at least every half second, so that they outlive the process.
 *
 * The first failed write ends the writing: `error` tells it, later records are counted in `lost`, nothing throws before
 * `close`. So does a disk that is slower than the run: what waits is bounded.
 */
export class JsonlRecordsWriter {
  readonly #file: FileHandle;
  readonly #timer: NodeJS.Timeout;
  readonly #pendingLimit: number;
  /** What waits to be written: full blocks, then the one that is being filled. Outside the heap, so no collector has to move it. */
  #full: Buffer[] = [];
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #filled = 0;
  #records = 0;
  #pending = 0;
  #inFlight = 0;
  #writing: Promise<void> = Promise.resolve();
  #error: Error | null = null;
  #lost = 0;

  private constructor(file: FileHandle, pendingLimit: number) {
    this.#file = file;
    this.#pendingLimit = pendingLimit;
    this.#timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  /** Creates the file; it must not exist. `pendingLimit` is in bytes. */
  static async create(path: string, pendingLimit = PENDING_BYTES_LIMIT): Promise<JsonlRecordsWriter> {
    return new JsonlRecordsWriter(await open(path, 'wx'), pendingLimit);
  }

  /** Why records are no longer written; null while all is well. */
  get error(): Error | null {
    return this.#error;
  }

  /** Records that were not written because of `error`. */
  get lost(): number {
    return this.#lost;
  }

  append(record: RequestRecord): void {
    if (this.#error !== null) {
      this.#lost += 1;
      return;
    }
    const line = recordLine(record);
    const bytes = line.length + 1;
    if (this.#pending + this.#inFlight + bytes > this.#pendingLimit) {
      this.#error = new Error(`the disk is too slow: ${this.#pendingLimit} bytes of records wait to be written`);
      this.#lost += 1;
      return;
    }
    if (this.#filled + bytes > this.#block.length) this.#newBlock(bytes);
    this.#filled += this.#block.write(line, this.#filled, 'latin1');
    this.#block[this.#filled++] = LF;
    this.#records += 1;
    this.#pending += bytes;
    if (this.#pending >= FLUSH_BYTES) void this.flush();
  }

  /** Hands over what waits. Resolves when it, and all before, was written or has failed; never rejects. */
  flush(): Promise<void> {
    // While a write is under way the lines pile up for the next one: one write at a time keeps them in order.
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Writes the rest, waits until it is on the disk and closes the file. Throws `error` when there is one. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
    try {
      if (this.#error === null) await this.#file.sync();
    } catch (error) {
      this.#fail(error);
    } finally {
      await this.#file.close();
    }
    if (this.#error !== null) throw this.#error;
  }

  async #write(): Promise<void> {
    if (this.#records === 0) return;
    const records = this.#records;
    const blocks = this.#take();
    try {
      for (const block of blocks) await this.#file.appendFile(block);
    } catch (error) {
      this.#lost += records;
      this.#fail(error);
    }
    this.#inFlight = 0;
  }

  #newBlock(bytes: number): void {
    if (this.#filled > 0) this.#full.push(this.#block.subarray(0, this.#filled));
    this.#block = Buffer.allocUnsafeSlow(Math.max(bytes, BLOCK_BYTES));
    this.#filled = 0;
  }

  /** All that waits; it is in flight from now on. */
  #take(): readonly Buffer[] {
    this.#newBlock(0);
    const blocks = this.#full;
    this.#full = [];
    this.#inFlight = this.#pending;
    this.#pending = 0;
    this.#records = 0;
    return blocks;
  }

  #fail(error: unknown): void {
    this.#error ??= new Error(reasonOf(error), { cause: error });
    this.#lost += this.#records;
    this.#take();
    this.#inFlight = 0;
  }
}
