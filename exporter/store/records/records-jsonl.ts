import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { RequestRecord } from '../../../core/run/record.ts';
import { LineBlocks, type TakenLines } from './line-blocks.ts';
import { reasonOf } from '../../errors/store-errors.ts';

/** A process that is killed loses the requests of this time at most. */
const FLUSH_INTERVAL_MS = 50;
/** Written before the interval ends if this many bytes wait. */
const FLUSH_BYTES = 1_000_000;
/** Bytes that may wait for a slow disk before records are dropped. */
const PENDING_BYTES_LIMIT = 64_000_000;

/**
 * Appends records to a JSONL file while a run is running; unknown values are omitted. `append` only buffers the line;
 * lines are passed to the operating system at least every 50 ms, so that they survive the process. The first
 * failed write ends the writing: `error` has the reason, later records are counted in `lost`, and nothing throws before
 * `close`. A disk that is slower than the run has the same effect: the buffer is bounded.
 */
export class JsonlRecordsWriter {
  readonly #file: FileHandle;
  readonly #timer: NodeJS.Timeout;
  readonly #pendingLimit: number;
  readonly #lines = new LineBlocks();
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

  /** Why records are no longer written; null while writing succeeds. */
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
    this.#lines.append(line);
    this.#records += 1;
    this.#pending += bytes;
    if (this.#pending >= FLUSH_BYTES) void this.flush();
  }

  /** Writes the waiting lines. Resolves when they and all earlier ones were written or failed; never rejects. */
  flush(): Promise<void> {
    // Lines are buffered during a write: one write at a time keeps them in order.
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Writes the rest, syncs it to disk and closes the file. Throws `error` if there is one. */
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
    const taken = this.#take();
    try {
      for (const lines of taken) {
        await this.#file.appendFile(lines.bytes);
        this.#lines.release(lines);
      }
    } catch (error) {
      this.#lost += records;
      this.#fail(error);
    }
    this.#inFlight = 0;
  }

  /** Takes all waiting lines for a write. */
  #take(): readonly TakenLines[] {
    this.#inFlight = this.#pending;
    this.#pending = 0;
    this.#records = 0;
    return this.#lines.take();
  }

  #fail(error: unknown): void {
    this.#error ??= new Error(reasonOf(error), { cause: error });
    this.#lost += this.#records;
    this.#take();
    this.#inFlight = 0;
  }
}

/**
 * A record as one line of JSON in ASCII, without line end; unknown values are omitted. It contains only the known
 * columns: other members of the object (such as text) never reach a file. A run writes one line per request, and an
 * object that always has the same keys is the fastest to write.
 */
export function recordLine(record: RequestRecord): string {
  const known: Readonly<Record<keyof RequestRecord, unknown>> = {
    index: record.index,
    phase: record.phase,
    stage: record.stage ?? undefined,
    due_ns: record.due_ns ?? undefined,
    sent_ns: record.sent_ns,
    first_content_ns: record.first_content_ns ?? undefined,
    first_output_ns: record.first_output_ns ?? undefined,
    last_content_ns: record.last_content_ns ?? undefined,
    end_ns: record.end_ns,
    connection_reused: record.connection_reused ?? undefined,
    connect_ns: record.connect_ns ?? undefined,
    connection_retried: record.connection_retried ?? undefined,
    outcome: record.outcome,
    reason: record.reason ?? undefined,
    http_status: record.http_status ?? undefined,
    input_tokens: record.input_tokens ?? undefined,
    input_tokens_source: record.input_tokens_source ?? undefined,
    output_tokens: record.output_tokens ?? undefined,
    output_tokens_source: record.output_tokens_source ?? undefined,
    reasoning_tokens: record.reasoning_tokens ?? undefined,
    cached_tokens: record.cached_tokens ?? undefined,
    requested_output_tokens: record.requested_output_tokens ?? undefined,
    counted_input_tokens: record.counted_input_tokens ?? undefined,
    counted_output_tokens: record.counted_output_tokens ?? undefined,
    counted_reasoning_tokens: record.counted_reasoning_tokens ?? undefined,
    chunk_offsets_ns: record.chunk_offsets_ns,
    http_blocked_ns: record.http_blocked_ns ?? undefined,
    http_dns_lookup_ns: record.http_dns_lookup_ns ?? undefined,
    http_connecting_ns: record.http_connecting_ns ?? undefined,
    http_tls_handshaking_ns: record.http_tls_handshaking_ns ?? undefined,
    http_sending_ns: record.http_sending_ns ?? undefined,
    http_waiting_ns: record.http_waiting_ns ?? undefined,
    http_receiving_ns: record.http_receiving_ns ?? undefined,
    http_data_sent_bytes: record.http_data_sent_bytes ?? undefined,
    http_data_received_bytes: record.http_data_received_bytes ?? undefined,
  };
  return JSON.stringify(known);
}
