import { createHash } from 'node:crypto';
import { JsonSplitter } from '../reading/long-json/json-splitter.ts';
import { readRange, readUtf8 } from '../reading/long-json/read-range.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';

/** The place of one of the results in a file. */
export interface ResultPlace {
  /** Its line, or its place in the list. */
  readonly name: string;
  /** Of its bytes, when they are a line: it stays the same when lines are appended. */
  readonly sha256: string | null;
  /** The file ends in it without a line feed. */
  readonly endsOpen: boolean;
  /** Its bytes, as often as they are requested; a piece is only good until the next. */
  readonly content: () => AsyncIterable<Buffer>;
}

/** Results up to this size are kept while they are imported, larger ones are read from the file again. */
const MAX_KEPT_BYTES = 8 * 2 ** 20;
const LINE_FEED = 0x0a;

/** The lines of a file that are not empty. A line may be of any length. */
export async function* linePlaces(file: SourceFile, reading: Reading): AsyncGenerator<ResultPlace> {
  let line = new LineBytes(0);
  let number = 1;
  const placeOf = ({ start, end, sha256, kept }: LineBytes, endsOpen: boolean): ResultPlace => {
    // What is before a later line is read over, and no progress.
    const reported = start === 0 ? reading : silent(reading);
    const content = kept === null ? () => readRange(file, { start, end }, reported) : () => inOnePiece(kept);
    return { name: String(number), sha256, endsOpen, content };
  };
  for await (const piece of readUtf8(file, reading)) {
    let from = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, from)) {
      line.append(piece.subarray(from, end));
      if (!line.isBlank) yield placeOf(line, false);
      number += 1;
      line = new LineBytes(line.end + 1);
      from = end + 1;
    }
    line.append(piece.subarray(from));
  }
  if (!line.isBlank) yield placeOf(line, true);
}

/** The entries of a file that is one list; an entry is read as a whole. */
export async function* entryPlaces(file: SourceFile, reading: Reading): AsyncGenerator<ResultPlace> {
  const entries: unknown[] = [];
  const splitter = new JsonSplitter([
    { path: [], elements: (values) => values.forEach((value) => entries.push(value)) },
  ]);
  let index = 0;
  const placeOf = (entry: unknown): ResultPlace => {
    const bytes = Buffer.from(JSON.stringify(entry));
    return { name: String(index++), sha256: null, endsOpen: false, content: () => inOnePiece(bytes) };
  };
  for await (const piece of readUtf8(file, reading)) {
    splitter.feed(piece);
    for (const entry of entries.splice(0)) yield placeOf(entry);
  }
  splitter.finish();
}

/** The file as one result. */
export function wholeFile(file: SourceFile, reading: Reading): ResultPlace {
  return { name: '1', sha256: null, endsOpen: false, content: () => readUtf8(file, reading) };
}

/** A line while it is read. */
class LineBytes {
  readonly start: number;
  readonly #hash = createHash('sha256');
  #length = 0;
  #pieces: Buffer[] | null = [];
  isBlank = true;

  constructor(start: number) {
    this.start = start;
  }

  append(bytes: Buffer): void {
    this.#length += bytes.length;
    this.#hash.update(bytes);
    if (this.isBlank && bytes.some((byte) => byte > 0x20)) this.isBlank = false;
    if (this.#length > MAX_KEPT_BYTES) this.#pieces = null;
    else this.#pieces?.push(Buffer.from(bytes));
  }

  get end(): number {
    return this.start + this.#length;
  }

  get sha256(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Its bytes; null when they are too many. */
  get kept(): Buffer | null {
    return this.#pieces && Buffer.concat(this.#pieces);
  }
}

async function* inOnePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}

/** For reading once more what is counted already. */
function silent({ signal }: Reading): Reading {
  return signal === undefined ? {} : { signal };
}
