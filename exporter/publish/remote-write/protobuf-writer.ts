const encoder = new TextEncoder();

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;

/**
 * Writes the fields of one protobuf message (wire format: protobuf.dev/programming-guides/encoding). Integers are exact
 * up to 2^53. A number or string with its default value (0, empty) is omitted, as usual.
 */
export class ProtobufWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** uint32, uint64, an enum, or an int64 that is not negative. */
  uint(field: number, value: number): void {
    if (value !== 0) this.uintOfOne(field, value);
  }

  /** The same for a member of a `oneof`, where 0 identifies the member. */
  uintOfOne(field: number, value: number): void {
    this.#tag(field, VARINT);
    this.#varint(value);
  }

  /** sint32 or sint64. */
  sint(field: number, value: number): void {
    if (value === 0) return;
    this.#tag(field, VARINT);
    this.#varint(zigzag(value));
  }

  double(field: number, value: number): void {
    if (Object.is(value, 0)) return;
    this.#tag(field, FIXED64);
    this.#double(value);
  }

  /** A double by its bits: a NaN can lose its payload when converted to a number. */
  doubleBits(field: number, high: number, low: number): void {
    this.#tag(field, FIXED64);
    this.#reserve(8);
    this.#view.setUint32(this.#length, low, true);
    this.#view.setUint32(this.#length + 4, high, true);
    this.#length += 8;
  }

  string(field: number, text: string): void {
    if (text !== '') this.bytes(field, encoder.encode(text.toWellFormed()));
  }

  /** Bytes, or an encoded message. */
  bytes(field: number, content: Uint8Array): void {
    this.#tag(field, LENGTH_DELIMITED);
    this.#varint(content.length);
    this.raw(content);
  }

  packedUints(field: number, values: readonly number[]): void {
    this.#packed(field, (inner) => {
      for (const value of values) inner.#varint(value);
    });
  }

  packedSints(field: number, values: readonly number[]): void {
    this.#packed(field, (inner) => {
      for (const value of values) inner.#varint(zigzag(value));
    });
  }

  packedDoubles(field: number, values: readonly number[]): void {
    this.#packed(field, (inner) => {
      for (const value of values) inner.#double(value);
    });
  }

  /** Encoded fields. */
  raw(content: Uint8Array): void {
    this.#reserve(content.length);
    this.#bytes.set(content, this.#length);
    this.#length += content.length;
  }

  /** The bytes since the start or the last `clear`; valid until the next write. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  #packed(field: number, write: (inner: ProtobufWriter) => void): void {
    const inner = new ProtobufWriter();
    write(inner);
    this.bytes(field, inner.written);
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  #double(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  #varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) | 128;
    this.#bytes[this.#length++] = rest;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.written);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);
