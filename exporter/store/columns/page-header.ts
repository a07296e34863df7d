/** What of a Parquet page's header is needed to read its values; Thrift's compact protocol. */
export interface PageHeader {
  /** 0 data page, 2 dictionary, 3 data page of version 2. */
  readonly type: number;
  readonly compressedBytes: number;
  /** Bytes of the header itself. */
  readonly headerBytes: number;
  /** Of a data page of version 2. */
  readonly values: number;
  /** 0 is PLAIN. */
  readonly encoding: number;
  readonly definitionBytes: number;
  readonly repetitionBytes: number;
  readonly isCompressed: boolean;
}

const STRUCT = 12;
const TRUE = 1;
const FALSE = 2;

/** Reads the header at a place. Throws a `RangeError` for what is none. */
export function readPageHeader(bytes: Uint8Array, at: number): PageHeader {
  const reader = new CompactReader(bytes, at);
  const numbers = new Map<string, number>();
  reader.struct('', numbers);
  const field = (path: string, fallback = 0): number => numbers.get(path) ?? fallback;
  return {
    type: field('.1', -1),
    compressedBytes: field('.3'),
    headerBytes: reader.at - at,
    values: field('.8.1'),
    encoding: field('.8.4', -1),
    definitionBytes: field('.8.5'),
    repetitionBytes: field('.8.6'),
    isCompressed: field('.8.7', 1) === 1,
  };
}

/** As much of the protocol as page headers use; every number is kept under the path of its field ids. */
class CompactReader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  struct(path: string, numbers: Map<string, number>): void {
    let id = 0;
    for (;;) {
      const head = this.#byte();
      if (head === 0) return;
      const delta = head >> 4;
      id = delta === 0 ? this.#zigzag() : id + delta;
      this.#value(head & 0xf, `${path}.${id}`, numbers);
    }
  }

  #value(type: number, path: string, numbers: Map<string, number>): void {
    if (type === TRUE || type === FALSE) numbers.set(path, type === TRUE ? 1 : 0);
    else if (type === 3) this.#byte();
    else if (type >= 4 && type <= 6) numbers.set(path, this.#zigzag());
    else if (type === 7) this.at += 8;
    else if (type === 8) this.at += this.#varint();
    else if (type === STRUCT) this.struct(path, numbers);
    else throw new RangeError(`a page header has a field of type ${type}`);
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new RangeError('a page header is torn');
    return byte;
  }
}
