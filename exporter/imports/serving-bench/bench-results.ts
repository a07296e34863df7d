import { entryPlaces, linePlaces, wholeFile } from './bench-places.ts';
import type { ResultPlace } from './bench-places.ts';
import { isObject } from '../reading/fields.ts';
import { ImportNotes } from '../import-notes.ts';
import { ImportRefusal } from '../import-refusal.ts';
import type { ImportedRun } from '../importer.ts';
import { CUT_OFF, DuplicateKeyError, JsonTextError } from '../reading/json-text.ts';
import { readRequestLists } from './request-lists.ts';
import type { RequestLists } from './request-lists.ts';
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
    if (held !== null) {
      several = true;
      yield resultOf(held, true, fileNotes);
    }
    held = found;
  }
  if (held === null && refused.length > 0) return;
  if (held === null) throw new ImportRefusal(fileNotes.lines[0] ?? 'it holds no result');
  yield resultOf(held, several, fileNotes);
}

function resultOf({ name, ...found }: Found, several: boolean, fileNotes: ImportNotes): BenchResult {
  const notes = new ImportNotes();
  for (const line of fileNotes.lines) notes.add(line);
  return { ...found, part: several ? name : null, notes };
}

function foundIn(file: SourceFile, notes: ImportNotes, refused: string[], reading: Reading): AsyncGenerator<Found> {
  const { firstLine, text } = file.head;
  if (text.trimStart().startsWith('[')) return inList(file, notes, reading);
  // One value over several lines, as a sweep writes it.
  return firstLine.trim() === '{' ? inDocument(file, notes, reading) : inLines(file, notes, refused, reading);
}

async function* inDocument(file: SourceFile, notes: ImportNotes, reading: Reading): AsyncGenerator<Found> {
  try {
    const found = await foundAt(wholeFile(file, reading), `${file.name}: `, notes);
    if (found === null) notes.add('not a JSON object');
    else yield found;
  } catch (error) {
    throw asRefusal(error, file);
  }
}

async function* inList(file: SourceFile, notes: ImportNotes, reading: Reading): AsyncGenerator<Found> {
  try {
    for await (const place of entryPlaces(file, reading)) {
      const found = await foundAt(place, '', notes);
      if (found === null) notes.count('entries left out: not a JSON object', `entry ${place.name}`);
      else yield found;
    }
  } catch (error) {
    throw asRefusal(error, file);
  }
}

async function* inLines(
  file: SourceFile,
  notes: ImportNotes,
  refused: string[],
  reading: Reading,
): AsyncGenerator<Found> {
  for await (const place of linePlaces(file, reading)) {
    const line = `line ${place.name}`;
    try {
      const found = await foundAt(place, `${line}: `, notes);
      if (found === null) notes.count('lines left out: not a JSON object', line);
      else yield found;
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      const isTorn = place.endsOpen && error.problem === CUT_OFF;
      if (error instanceof DuplicateKeyError) refused.push(`${file.name}: ${line}: ${error.message}`);
      else if (isTorn)
        notes.add(`the last line (${place.name}) is incomplete and left out: the file was cut while it was written`);
      else notes.count('lines left out: not JSON', `${line}: ${error.message}`);
    }
  }
}

/** The result at a place; null when it is not an object. Throws `JsonTextError`. */
async function foundAt(place: ResultPlace, where: string, notes: ImportNotes): Promise<Found | null> {
  const { value, notNumbers, lists } = await readRequestLists(place.content);
  if (notNumbers > 0) notes.add(`${where}${notNumbers} × NaN or Infinity were read as unknown`);
  return isObject(value) ? { value, lists, name: place.name, sha256: place.sha256 } : null;
}

function asRefusal(error: unknown, file: SourceFile): unknown {
  return error instanceof JsonTextError ? new ImportRefusal(`${file.name}: ${error.message}`) : error;
}
