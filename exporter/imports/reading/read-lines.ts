import { readBytes } from './source-file.ts';
import type { Reading, SourceFile } from './source-file.ts';

/** A line may be this long: a request with 10⁶ chunks has 20 MB. */
export const MAX_LINE_BYTES = 64 * 2 ** 20;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Some lines of a file. The bytes are only good until the next block is requested. */
export interface LineBlock {
  readonly bytes: Buffer;
  /** Where each line begins and ends in `bytes`, without LF or CR LF: two numbers per line. */
  readonly edges: readonly number[];
  /** Number of the first line in the file, from 1. */
  readonly firstNumber: number;
  /** The last line is the file's last and has no line feed: it may be torn. */
  readonly endsOpen: boolean;
}

/** A line that is too long to be read; it is not in any block, but its number is used up. */
export type LongLine = (line: { readonly number: number; readonly bytes: number }) => void;

/**
 * The lines of a file as bytes, block by block: at most one piece of the file and one line are in memory. A byte order
 * mark is left out, lines above `longest` are reported to `onLongLine` instead. Throws what `readBytes` does.
 */
export async function* readLineBlocks(
  file: Pick<SourceFile, 'path' | 'compression' | 'bytes'>,
  reading: Reading,
  onLongLine: LongLine,
  longest: number = MAX_LINE_BYTES,
): AsyncGenerator<LineBlock> {
  const begun = new BegunLine(longest);
  let number = 1;
  let atStart = true;
  for await (const piece of readBytes(file, reading)) {
    let from = atStart && piece.subarray(0, MARK.length).equals(MARK) ? MARK.length : 0;
    atStart = false;
    if (begun.length > 0) {
      const end = piece.indexOf(LINE_FEED);
      begun.append(piece.subarray(from, end < 0 ? piece.length : end));
      if (end < 0) continue;
      yield* begun.block(number, false, onLongLine);
      number += 1;
      from = end + 1;
    }
    const edges = edgesOf(piece, from);
    if (edges.length > 0) yield { bytes: piece, edges, firstNumber: number, endsOpen: false };
    number += edges.length / 2;
    begun.append(piece.subarray(Math.max(from, piece.lastIndexOf(LINE_FEED) + 1)));
  }
  yield* begun.block(number, true, onLongLine);
}

/** The edges of the lines that end with a line feed, from a position on. */
function edgesOf(bytes: Buffer, from: number): number[] {
  const edges: number[] = [];
  let start = from;
  for (let end = bytes.indexOf(LINE_FEED, start); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
    edges.push(start, end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end);
    start = end + 1;
  }
  return edges;
}

/** A line whose end has not been read yet. Beyond the limit its bytes are counted, not kept. */
class BegunLine {
  length = 0;
  readonly #longest: number;
  #pieces: Buffer[] = [];

  constructor(longest: number) {
    this.#longest = longest;
  }

  append(bytes: Buffer): void {
    this.length += bytes.length;
    if (this.length > this.#longest) this.#pieces = [];
    else if (bytes.length > 0) this.#pieces.push(Buffer.from(bytes));
  }

  /** The line as a separate block, nothing when it is empty; then a new line begins. */
  *block(number: number, endsOpen: boolean, onLongLine: LongLine): Generator<LineBlock> {
    const { length } = this;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.length = 0;
    if (length > this.#longest) onLongLine({ number, bytes: length });
    else if (length > 0) yield { bytes, edges: [0, withoutReturn(bytes)], firstNumber: number, endsOpen };
  }
}

function withoutReturn(bytes: Buffer): number {
  return bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
}
