import { ImportRefusal, type ImportNotes } from '../import-notes.ts';
import { isObject } from './fields.ts';
import { DuplicateKeyError, JsonTextError, parseJson } from './json-text.ts';
import { readBytes, type Reading, type SourceFile } from './source-file.ts';

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
type LongLine = (line: { readonly number: number; readonly bytes: number }) => void;

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

/** A line that is not empty. */
export interface TextLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** It is the last and has no line feed. */
  readonly mayBeTorn: boolean;
}

/** A line of a JSON lines file; its text has the digits of whole numbers above 2^53. */
export interface JsonLine extends TextLine {
  readonly value: Readonly<Record<string, unknown>>;
}

/** The lines of a file, one by one, without those above the limit, which are counted in the notes. Throws what `readBytes` does. */
export async function* readTextLines(file: SourceFile, notes: ImportNotes, reading: Reading): AsyncGenerator<TextLine> {
  const onLongLine = ({ number, bytes }: Parameters<LongLine>[0]): void =>
    notes.count('lines left out: too long', `line ${number} has ${bytes} bytes`);
  for await (const { bytes, edges, firstNumber, endsOpen } of readLineBlocks(file, reading, onLongLine)) {
    for (let i = 0; i < edges.length; i += 2) {
      const text = bytes.toString('utf8', edges[i], edges[i + 1]);
      const mayBeTorn = endsOpen && i + 2 === edges.length;
      if (text.trim() !== '') yield { number: firstNumber + i / 2, text, mayBeTorn };
    }
  }
}

/**
 * The objects of a JSON lines file, one by one. Lines that are no JSON object are left out and counted in the notes, a last
 * line that is torn as such. Throws what `readBytes` does, and `ImportRefusal` for a line with an object that has a key twice.
 */
export async function* readJsonLines(file: SourceFile, notes: ImportNotes, reading: Reading): AsyncGenerator<JsonLine> {
  for await (const line of readTextLines(file, notes, reading)) {
    const value = objectOf(line, file, notes);
    if (value !== null) yield { ...line, value };
  }
}

function objectOf(
  { number, text, mayBeTorn }: TextLine,
  { name }: SourceFile,
  notes: ImportNotes,
): JsonLine['value'] | null {
  try {
    const { value, notNumbers } = parseJson(text);
    if (notNumbers > 0) notes.count('lines with NaN or Infinity, which were read as unknown', `line ${number}`);
    if (isObject(value)) return value;
    notes.count('lines left out: not a JSON object', `line ${number}`);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    if (error instanceof DuplicateKeyError) throw new ImportRefusal(`${name}: line ${number}: ${error.message}`);
    if (mayBeTorn)
      notes.add(`the last line (${number}) is incomplete and left out: the file was cut while it was written`);
    else notes.count('lines left out: not JSON', `line ${number}: ${error.message}`);
  }
  return null;
}
