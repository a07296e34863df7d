import { createHash } from 'node:crypto';
import { isObject } from '../reading/fields.ts';
import { ImportNotes, ImportRefusal } from '../import-notes.ts';
import type { ImportedRun } from '../importer.ts';
import { CUT_OFF, DuplicateKeyError, JsonTextError } from '../reading/json-text.ts';
import { JsonSplitter } from '../reading/long-json/json-splitter.ts';
import { readRange, readUtf8 } from '../reading/long-json/read-long-document.ts';
import { readRequestLists } from './listed-survey.ts';
import type { RequestLists } from './listed-survey.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';

/** One of the results in a file. */
export interface BenchResult {
  /** What it holds besides the lists of its requests, which are empty in it. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly lists: RequestLists;
  /** Its line, or its place in the list; null when the file holds one. */
  readonly part: string | null;
  /** Of the bytes of its line; null when it is no line. */
  readonly sha256: string | null;
  /** Starts with the notes on the file. */
  readonly notes: ImportNotes;
}

/**
 * A run of each of the results in a file. One whose lists turn out to be no JSON, or that has a key twice, is left out,
 * and refused when the others have been read. Throws what `benchResults` does.
 */
export async function* benchRuns(
  file: SourceFile,
  reading: Reading,
  runOf: (result: BenchResult) => Promise<ImportedRun>,
): AsyncGenerator<ImportedRun> {
  const refused: string[] = [];
  for await (const result of benchResults(file, refused, reading)) {
    try {
      yield await runOf(result);
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      refused.push(`${result.part === null ? file.name : `${file.name} (${result.part})`}: ${error.message}`);
    }
  }
  if (refused.length > 0) throw new ImportRefusal(refused.join('; '));
}

type Found = Omit<BenchResult, 'part' | 'notes'> & { readonly name: string };

/**
 * The results of a file that is one JSON object, a list of them, or one per line (`--append-result`). Each may be of
 * any size: the lists of its requests are read from the file as they are needed. Lines with a key twice go to `refused`.
 * Throws `ImportRefusal` when there is none, and what reading throws.
 */
async function* benchResults(file: SourceFile, refused: string[], reading: Reading): AsyncGenerator<BenchResult> {
  const fileNotes = new ImportNotes();
  let held: Found | null = null;
  let several = false;
  // One ahead: whether there are several, and whether the last line is torn, is seen only then.
  for await (const found of foundIn(file, fileNotes, refused, reading)) {
    several ||= held !== null;
    if (held !== null) yield resultOf(held, several, fileNotes);
    held = found;
  }
  if (held === null && refused.length > 0) return;
  if (held === null) throw new ImportRefusal(fileNotes.lines[0] ?? 'it holds no result');
  yield resultOf(held, several, fileNotes);
}

function resultOf({ name, ...found }: Found, several: boolean, fileNotes: ImportNotes): BenchResult {
  return { ...found, part: several ? name : null, notes: fileNotes.copy() };
}

type PlaceKind = 'document' | 'entry' | 'line';

async function* foundIn(
  file: SourceFile,
  notes: ImportNotes,
  refused: string[],
  reading: Reading,
): AsyncGenerator<Found> {
  const { firstLine, text } = file.head;
  // A document is one value over several lines, as a sweep writes it.
  const kind = text.trimStart().startsWith('[') ? 'entry' : firstLine.trim() === '{' ? 'document' : 'line';
  try {
    for await (const place of placesIn(file, kind, reading)) {
      const where = `${kind} ${place.name}`;
      const isLine = kind === 'line';
      try {
        const prefix = isLine ? `${where}: ` : kind === 'document' ? `${file.name}: ` : '';
        const found = await foundAt(place, prefix, notes);
        if (found !== null) yield found;
        else if (kind === 'document') notes.add('not a JSON object');
        else notes.count(`${isLine ? 'lines' : 'entries'} left out: not a JSON object`, where);
      } catch (error) {
        if (!isLine || !(error instanceof JsonTextError)) throw error;
        if (error instanceof DuplicateKeyError) refused.push(`${file.name}: ${where}: ${error.message}`);
        else if (place.endsOpen && error.problem === CUT_OFF)
          notes.add(`the last line (${place.name}) is incomplete and left out: the file was cut while it was written`);
        else notes.count('lines left out: not JSON', `${where}: ${error.message}`);
      }
    }
  } catch (error) {
    throw error instanceof JsonTextError ? new ImportRefusal(`${file.name}: ${error.message}`) : error;
  }
}

/** The result at a place; null when it is not an object. Throws `JsonTextError`. */
async function foundAt(place: ResultPlace, where: string, notes: ImportNotes): Promise<Found | null> {
  const { value, notNumbers, lists } = await readRequestLists(place.content);
  if (notNumbers > 0) notes.add(`${where}${notNumbers} × NaN or Infinity were read as unknown`);
  return isObject(value) ? { value, lists, name: place.name, sha256: place.sha256 } : null;
}

/** The place of one of the results in a file. */
interface ResultPlace {
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
async function* linePlaces(file: SourceFile, reading: Reading): AsyncGenerator<ResultPlace> {
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
async function* entryPlaces(file: SourceFile, reading: Reading): AsyncGenerator<ResultPlace> {
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

function placesIn(
  file: SourceFile,
  kind: PlaceKind,
  reading: Reading,
): Iterable<ResultPlace> | AsyncIterable<ResultPlace> {
  if (kind === 'entry') return entryPlaces(file, reading);
  if (kind === 'line') return linePlaces(file, reading);
  return [{ name: '1', sha256: null, endsOpen: false, content: () => readUtf8(file, reading) }];
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
