import { ExpositionError } from '../exposition.ts';

/** Wire types of protobuf's encoding. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

const TWO_TO_32 = 2 ** 32;
const MAX_VARINT_BYTES = 10;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the fields of one protobuf message (wire format of protobuf.dev/programming-guides/encoding) in place. Every method
 * throws `ExpositionError` with the byte at which the message is faulty.
 */
export class WireReader {
  /** Of the field whose tag was read last. */
  field = 0;
  wireType = 0;
  at: number;
  readonly bytes: Uint8Array;
  readonly end: number;
  private readonly view: DataView;
  // The varint read last, as two unsigned halves.
  private low = 0;
  private high = 0;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length, view?: DataView) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
    this.view = view ?? new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.at >= this.end;
  }

  /** Reads the next field's tag; false at the end of the message. */
  next(): boolean {
    if (this.done) return false;
    const start = this.at;
    const tag = this.uint64();
    this.field = Math.floor(tag / 8);
    this.wireType = tag % 8;
    if (this.field === 0 || tag >= TWO_TO_32) throw this.error(start, 'a field without a valid number');
    return true;
  }

  /** Skips the field whose tag was read last. */
  skip(): void {
    if (this.wireType === VARINT) this.varint();
    else if (this.wireType === FIXED64) this.take(8, 'a fixed number');
    else if (this.wireType === LENGTH_DELIMITED) this.take(this.uint64(), 'a field');
    else if (this.wireType === FIXED32) this.take(4, 'a fixed number');
    else throw this.error(this.at, `wire type ${this.wireType}, which this format does not use`);
  }

  /** A varint as an unsigned integer; above 2^53 the nearest double. */
  uint64(): number {
    this.varint();
    return this.high * TWO_TO_32 + this.low;
  }

  /** A varint in two's complement (int32, int64). */
  int64(): number {
    this.varint();
    return (this.high | 0) * TWO_TO_32 + this.low;
  }

  /** A varint in zigzag form (sint32, sint64). */
  sint64(): number {
    this.varint();
    const half = (this.high >>> 1) * TWO_TO_32 + (((this.low >>> 1) | (this.high << 31)) >>> 0);
    return (this.low & 1) === 0 ? half : -half - 1;
  }

  double(): number {
    return this.view.getFloat64(this.take(8, 'a number'), true);
  }

  /** A length-delimited field; rejects other wire types. */
  expect(wireType: number, what: string): void {
    if (this.wireType !== wireType) throw this.error(this.at, `wire type ${this.wireType} for ${what}`);
  }

  /** The message in the field whose tag was read last. */
  message(what: string): WireReader {
    this.expect(LENGTH_DELIMITED, what);
    return this.delimited(what);
  }

  /** A message after its length, without a tag. */
  delimited(what: string): WireReader {
    const length = this.uint64();
    const start = this.take(length, what);
    return new WireReader(this.bytes, start, start + length, this.view);
  }

  string(what: string, maxBytes: number): string {
    this.expect(LENGTH_DELIMITED, what);
    const length = this.uint64();
    const start = this.take(length, what);
    if (length > maxBytes) throw this.error(start, `${what} is longer than ${maxBytes} bytes`);
    try {
      return decoder.decode(this.bytes.subarray(start, start + length));
    } catch {
      throw this.error(start, `${what} is not valid UTF-8`);
    }
  }

  /** A repeated number, packed or not: each is read by `read` and given to `take`. */
  repeated(wireType: number, what: string, take: (reader: WireReader) => void): void {
    if (this.wireType !== LENGTH_DELIMITED) {
      this.expect(wireType, what);
      take(this);
      return;
    }
    const packed = this.delimited(what);
    while (!packed.done) take(packed);
  }

  error(at: number, reason: string): ExpositionError {
    return new ExpositionError(0, 0, `byte ${at}: ${reason}`);
  }

  private take(length: number, what: string): number {
    const start = this.at;
    if (length > this.end - start)
      throw this.error(start, `${what} of ${length} bytes, where ${this.end - start} follow`);
    this.at = start + length;
    return start;
  }

  private varint(): void {
    const { bytes, end } = this;
    const start = this.at;
    let low = 0;
    let high = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      if (this.at >= end) throw this.error(start, 'a number that is cut off');
      const byte = bytes[this.at++] as number;
      const bits = byte & 0x7f;
      if (i < 4) low |= bits << (7 * i);
      else if (i === 4) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (7 * i - 32);
      if (byte < 0x80) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        return;
      }
    }
    throw this.error(start, `a number of more than ${MAX_VARINT_BYTES} bytes`);
  }
}
