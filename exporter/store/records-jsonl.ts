import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { RequestRecord } from '../../core/run/record.ts';
import { knownColumnsOf } from './record-columns.ts';
import { reasonOf } from './store-errors.ts';

const FLUSH_INTERVAL_MS = 500;
/** Written before the interval is over when that much waits. */
const FLUSH_CHARACTERS = 1_000_000;
/** What may wait for a slow disk before records are given up. */
const PENDING_CHARACTERS_LIMIT = 64_000_000;

/**
 * Appends records to a JSONL file while a run lasts; what is not known is left out of a line. `append` only puts the line into memory; lines are handed to the
 * operating system at least every half second, so that they outlive the process.
 *
 * The first failed write ends the writing: `error` tells it, later records are counted in `lost`, nothing throws before
 * `close`. So does a disk that is slower than the run: what waits is bounded.
 */
export class JsonlRecordsWriter {
  readonly #file: FileHandle;
  readonly #timer: NodeJS.Timeout;
  readonly #pendingLimit: number;
  #lines: string[] = [];
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

  /** Creates the file; it must not exist. `pendingLimit` is in characters. */
  static async create(path: string, pendingLimit = PENDING_CHARACTERS_LIMIT): Promise<JsonlRecordsWriter> {
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
    const line = `${JSON.stringify(knownColumnsOf(record))}\n`;
    if (this.#pending + this.#inFlight + line.length > this.#pendingLimit) {
      this.#error = new Error(`the disk is too slow: ${this.#pendingLimit} characters of records wait to be written`);
      this.#lost += 1;
      return;
    }
    this.#lines.push(line);
    this.#pending += line.length;
    if (this.#pending >= FLUSH_CHARACTERS) void this.flush();
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
    if (this.#lines.length === 0) return;
    const lines = this.#lines;
    const length = this.#pending;
    this.#lines = [];
    this.#pending = 0;
    this.#inFlight = length;
    try {
      await this.#file.appendFile(lines.join(''), 'utf8');
    } catch (error) {
      this.#lost += lines.length;
      this.#fail(error);
    }
    this.#inFlight = 0;
  }

  #fail(error: unknown): void {
    this.#error ??= new Error(reasonOf(error), { cause: error });
    this.#lost += this.#lines.length;
    this.#lines = [];
    this.#pending = 0;
  }
}
