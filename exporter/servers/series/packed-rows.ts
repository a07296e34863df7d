import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';

/** Rows per block: enough that a block's header is small beside its numbers. */
const WIDE_ROWS = 64;
const NARROW_ROWS = 256;
const WIDE_STRIDE = 8;
const FIRST_ROWS = 4;
/** Of a column in the header of a block: its base (8 bytes), and the place and width of its numbers (4 bytes). */
const HEADER_BYTES = 12;
const WIDTH_BITS = 4;
const MAX_UINT32 = 0xffff_ffff;

/** Where full blocks are kept instead of in memory. */
export interface BlockStorage {
  /** Keeps a block and returns its place; null when it has to stay in memory. */
  put(block: DataView): number | null;
  /** A block that was kept. */
  at(place: number): DataView;
}

/**
 * Rows of numbers, appended one by one and read in any order, each exactly as it was added. A full block of rows is packed
 * column by column: a constant takes one number, integers close to each other take 1, 2 or 4 bytes each, anything else 8.
 * What a server counts between two scrapes is small, so that hours of scrapes fit into memory.
 */
export class PackedRows {
  readonly #stride: number;
  readonly #rowsPerBlock: number;
  readonly #storage: BlockStorage | null;
  /** A number is a place in the storage. */
  readonly #blocks: (DataView | number)[] = [];
  #open: Float64Array;
  #openRows = 0;

  constructor(stride: number, storage: BlockStorage | null = null) {
    this.#stride = stride;
    this.#storage = storage;
    this.#rowsPerBlock = stride >= WIDE_STRIDE ? WIDE_ROWS : NARROW_ROWS;
    this.#open = new Float64Array(FIRST_ROWS * stride);
  }

  /** How many rows it has. */
  get length(): number {
    return this.#blocks.length * this.#rowsPerBlock + this.#openRows;
  }

  /** NaN outside of what was added. */
  get(row: number, column = 0): number {
    if (column < 0 || column >= this.#stride) return NaN;
    const block = Math.floor(row / this.#rowsPerBlock);
    const inBlock = row - block * this.#rowsPerBlock;
    const packed = this.#blocks[block];
    if (packed !== undefined) return unpacked(this.#inMemory(packed), inBlock, column);
    return block === this.#blocks.length && inBlock < this.#openRows
      ? (this.#open[inBlock * this.#stride + column] ?? NaN)
      : NaN;
  }

  /** A row of one number. */
  push(value: number): void {
    this.#makeRoom();
    this.#open[this.#openRows * this.#stride] = value;
    this.#added();
  }

  pushRow(row: ArrayLike<number>): void {
    this.#makeRoom();
    this.#open.set(row, this.#openRows * this.#stride);
    this.#added();
  }

  #inMemory(block: DataView | number): DataView {
    return typeof block === 'number' ? (this.#storage as BlockStorage).at(block) : block;
  }

  #makeRoom(): void {
    if (this.#openRows * this.#stride < this.#open.length) return;
    const larger = new Float64Array(2 * this.#open.length);
    larger.set(this.#open);
    this.#open = larger;
  }

  #added(): void {
    this.#openRows += 1;
    if (this.#openRows < this.#rowsPerBlock) return;
    const block = packedBlock(this.#open, this.#stride, this.#openRows);
    this.#blocks.push(this.#storage?.put(block) ?? block);
    this.#openRows = 0;
  }
}

interface ColumnForm {
  readonly base: number;
  /** Bytes of each number; 0: all are the base. */
  readonly width: 0 | 1 | 2 | 4 | 8;
}

function packedBlock(rows: Float64Array, stride: number, count: number): DataView {
  const forms = Array.from({ length: stride }, (_, column) => formOf(rows, stride, count, column));
  const bytes = forms.reduce((sum, { width }) => sum + width * count, stride * HEADER_BYTES);
  const view = new DataView(new ArrayBuffer(bytes));
  let offset = stride * HEADER_BYTES;
  for (const [column, { base, width }] of forms.entries()) {
    view.setFloat64(column * HEADER_BYTES, base);
    view.setUint32(column * HEADER_BYTES + 8, offset * 2 ** WIDTH_BITS + width);
    for (let row = 0; row < count && width > 0; row++) {
      const value = rows[row * stride + column] as number;
      if (width === 8) view.setFloat64(offset, value);
      else if (width === 4) view.setUint32(offset, value - base);
      else if (width === 2) view.setUint16(offset, value - base);
      else view.setUint8(offset, value - base);
      offset += width;
    }
  }
  return view;
}

function formOf(rows: Float64Array, stride: number, count: number, column: number): ColumnForm {
  const first = rows[column] as number;
  let [low, high] = [first, first];
  let isConstant = true;
  let isWhole = true;
  for (let row = 0; row < count; row++) {
    const value = rows[row * stride + column] as number;
    isConstant &&= Object.is(value, first);
    isWhole &&= Number.isSafeInteger(value) && !Object.is(value, -0);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (isConstant) return { base: first, width: 0 };
  const range = high - low;
  if (!isWhole || range > MAX_UINT32) return { base: 0, width: 8 };
  return { base: low, width: range <= 0xff ? 1 : range <= 0xffff ? 2 : 4 };
}

function unpacked(view: DataView, row: number, column: number): number {
  const place = view.getUint32(column * HEADER_BYTES + 8);
  const width = place % 2 ** WIDTH_BITS;
  const at = (place >>> WIDTH_BITS) + row * width;
  if (width === 8) return view.getFloat64(at);
  const base = view.getFloat64(column * HEADER_BYTES);
  if (width === 1) return base + view.getUint8(at);
  if (width === 2) return base + view.getUint16(at);
  return width === 0 ? base : base + view.getUint32(at);
}

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
