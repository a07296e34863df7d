import { Buffer } from 'node:buffer';
import { open, type FileHandle } from 'node:fs/promises';
import { ERROR_REASONS, OUTCOMES, PHASES, type RequestRecord } from '../../../core/run/record.ts';
import { reasonOf, DamagedRunError } from '../../errors/expected-error.ts';
import { openRegularFile } from '../../files/read-regular-file.ts';
import { RECORD_COLUMNS } from './record-columns.ts';

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
interface TakenLines {
  readonly bytes: Buffer;
  readonly block: Block;
}

/**
 * Lines of ASCII text that wait to be written, as bytes in blocks. The blocks are outside the heap, so that the garbage
 * collector does not move them, and used again: a new block survives young collections while it is filled, so that only
 * collections of the entire heap would free it, several per second in a run with short requests.
 */
class LineBlocks {
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
    conversation: record.conversation ?? undefined,
    turn: record.turn ?? undefined,
    agent: record.agent ?? undefined,
    conversation_requests: record.conversation_requests ?? undefined,
    think_ns: record.think_ns ?? undefined,
    tool_ns: record.tool_ns ?? undefined,
    planned_ns: record.planned_ns ?? undefined,
    model: record.model ?? undefined,
    due_ns: record.due_ns ?? undefined,
    sent_ns: record.sent_ns,
    first_content_ns: record.first_content_ns ?? undefined,
    first_output_ns: record.first_output_ns ?? undefined,
    last_content_ns: record.last_content_ns ?? undefined,
    end_ns: record.end_ns,
    connection_reused: record.connection_reused ?? undefined,
    connect_ns: record.connect_ns ?? undefined,
    tcp_connect_ns: record.tcp_connect_ns ?? undefined,
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
    image_tokens: record.image_tokens ?? undefined,
    audio_tokens: record.audio_tokens ?? undefined,
    documents: record.documents ?? undefined,
    images: record.images ?? undefined,
    image_bytes: record.image_bytes ?? undefined,
    audio_ns: record.audio_ns ?? undefined,
    audio_bytes: record.audio_bytes ?? undefined,
    request_bytes: record.request_bytes ?? undefined,
    trace_id: record.trace_id ?? undefined,
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

/**
 * The records of a JSONL file, in order. A truncated last line (the process or machine stopped while writing) is
 * ignored; any other line that is not a record throws a `DamagedRunError` with its line number.
 */
export async function* readJsonlRecords(path: string): AsyncGenerator<RequestRecord> {
  let number = 0;
  let torn: { number: number; reason: string } | null = null;
  for await (const line of linesOf(path)) {
    if (torn !== null) throw new DamagedRunError(path, `line ${torn.number} ${torn.reason}`);
    number += 1;
    const parsed = parseRecord(line);
    if (typeof parsed === 'string') torn = { number, reason: parsed };
    else yield parsed;
  }
}

/** The non-empty lines, including a last one without line end. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  const file = await openRegularFile(path);
  for await (const piece of file.createReadStream({ encoding: 'utf8', highWaterMark: 1 << 18 })) {
    const lines = (rest + String(piece)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield line;
  }
  if (rest !== '') yield rest;
}

/** The record, or the problem with the line in words (never its text). */
function parseRecord(line: string): RequestRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'is not JSON';
  }
  const record = withAbsentFields(value);
  return isRecord(record) ? record : 'is not a record';
}

/** A line of an earlier version lacks newer fields: they are unknown. */
function withAbsentFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return { ...ABSENT_FIELDS, ...value };
}

const ABSENT_FIELDS = Object.fromEntries(
  RECORD_COLUMNS.filter(({ nullable }) => nullable).map(({ name }) => [name, null]),
);

function isRecord(value: unknown): value is RequestRecord {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  const wellTyped = RECORD_COLUMNS.every(({ name, kind, nullable }) => {
    const field = fields[name];
    return (nullable && field === null) || isOfKind(field, kind);
  });
  return (
    wellTyped &&
    isOneOf(PHASES, fields.phase) &&
    isOneOf(OUTCOMES, fields.outcome) &&
    (fields.reason === null || isOneOf(ERROR_REASONS, fields.reason))
  );
}

function isOfKind(value: unknown, kind: (typeof RECORD_COLUMNS)[number]['kind']): boolean {
  switch (kind) {
    case 'int64':
    case 'int32':
      return Number.isSafeInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'string':
      return typeof value === 'string';
    case 'int64 list':
      return Array.isArray(value) && value.every(Number.isSafeInteger);
  }
}

function isOneOf(values: readonly string[], value: unknown): boolean {
  return typeof value === 'string' && values.includes(value);
}
