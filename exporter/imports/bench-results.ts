import { isObject } from './fields.ts';
import { ImportNotes } from './import-notes.ts';
import { ImportRefusal } from './importer.ts';
import { LARGEST_DOCUMENT_BYTES, readJsonDocument } from './read-json-document.ts';
import { lineObject, longLineNote } from './read-json-lines.ts';
import { readLineBlocks } from './read-lines.ts';
import type { Reading, SourceFile } from './source-file.ts';

/** One of the results in a file. */
export interface BenchResult {
  readonly value: Readonly<Record<string, unknown>>;
  /** Its line, or its place in the list; null when the file holds one. */
  readonly part: string | null;
  /** Begun with what there is to say of the file. */
  readonly notes: ImportNotes;
}

interface Found {
  readonly value: Readonly<Record<string, unknown>>;
  readonly place: string;
}

/**
 * The results of a file that is one JSON object, a list of them, or one per line (`--append-result`). A line holds a whole
 * run and may be as large as a document. Throws `ImportRefusal` when there is none, and what reading throws.
 */
export async function* benchResults(file: SourceFile, reading: Reading): AsyncGenerator<BenchResult> {
  const fileNotes = new ImportNotes();
  let held: Found | null = null;
  let several = false;
  // One ahead: whether there are several, and whether the last line is torn, is seen only then.
  for await (const found of isSpread(file) ? inDocument(file, fileNotes, reading) : inLines(file, fileNotes, reading)) {
    if (held !== null) {
      several = true;
      yield resultOf(held, true, fileNotes);
    }
    held = found;
  }
  if (held === null) throw new ImportRefusal(fileNotes.lines[0] ?? 'it holds no result');
  yield resultOf(held, several, fileNotes);
}

function resultOf({ value, place }: Found, several: boolean, fileNotes: ImportNotes): BenchResult {
  const notes = new ImportNotes();
  for (const line of fileNotes.lines) notes.say(line);
  return { value, part: several ? place : null, notes };
}

/** One value over several lines, as a sweep writes it. */
function isSpread({ head }: SourceFile): boolean {
  return ['{', '['].includes(head.firstLine.trim()) || head.text.trimStart().startsWith('[');
}

async function* inDocument(file: SourceFile, notes: ImportNotes, reading: Reading): AsyncGenerator<Found> {
  const document = await readJsonDocument(file, notes, reading);
  const values = Array.isArray(document) ? (document as readonly unknown[]) : [document];
  for (const [index, value] of values.entries()) {
    if (isObject(value)) yield { value, place: String(index) };
    else notes.count('entries left out: not a JSON object', `entry ${index}`);
  }
}

async function* inLines(file: SourceFile, notes: ImportNotes, reading: Reading): AsyncGenerator<Found> {
  const blocks = readLineBlocks(file, reading, longLineNote(notes), LARGEST_DOCUMENT_BYTES);
  for await (const { bytes, edges, firstNumber, endsOpen } of blocks) {
    for (let i = 0; i < edges.length; i += 2) {
      const number = firstNumber + i / 2;
      const text = bytes.toString('utf8', edges[i], edges[i + 1]);
      const value = lineObject(text, number, endsOpen && i + 2 === edges.length, notes);
      if (value !== null) yield { value, place: String(number) };
    }
  }
}
