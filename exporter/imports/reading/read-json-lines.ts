import { DuplicateKeyError, JsonTextError, parseJson } from './json-text.ts';
import { ImportRefusal } from '../import-refusal.ts';
import type { ImportNotes } from '../import-notes.ts';
import { readLineBlocks } from './read-lines.ts';
import type { Reading, SourceFile } from './source-file.ts';

/** A line of a JSON lines file. */
export interface JsonLine {
  /** From 1. */
  readonly number: number;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * The objects of a JSON lines file, one by one. Lines that are no JSON object are left out and counted in the notes, a last
 * line that is torn as such; empty lines are nothing. Throws what `readBytes` does, and `ImportRefusal` for a line with
 * an object that has a key twice.
 */
export async function* readJsonLines(file: SourceFile, notes: ImportNotes, reading: Reading): AsyncGenerator<JsonLine> {
  const onLongLine = longLineNote(notes);
  for await (const { bytes, edges, firstNumber, endsOpen } of readLineBlocks(file, reading, onLongLine)) {
    for (let i = 0; i < edges.length; i += 2) {
      const number = firstNumber + i / 2;
      const text = bytes.toString('utf8', edges[i], edges[i + 1]);
      const mayBeTorn = endsOpen && i + 2 === edges.length;
      const value = lineObject(text, { file, number, mayBeTorn }, notes);
      if (value !== null) yield { number, value };
    }
  }
}

/** Where a line is. */
export interface LinePlace {
  readonly file: Pick<SourceFile, 'name'>;
  /** From 1. */
  readonly number: number;
  /** It is the last and has no line feed. */
  readonly mayBeTorn: boolean;
}

/** The object of a line; null, and a note, when it has none. Throws `ImportRefusal` when an object has a key twice. */
export function lineObject(
  text: string,
  { file, number, mayBeTorn }: LinePlace,
  notes: ImportNotes,
): Readonly<Record<string, unknown>> | null {
  if (text.trim() === '') return null;
  try {
    const { value, notNumbers } = parseJson(text);
    if (notNumbers > 0) notes.count('lines with NaN or Infinity, which were read as unknown', `line ${number}`);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    notes.count('lines left out: not a JSON object', `line ${number}`);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    if (error instanceof DuplicateKeyError) throw new ImportRefusal(`${file.name}: line ${number}: ${error.message}`);
    if (mayBeTorn)
      notes.add(`the last line (${number}) is incomplete and left out: the file was cut while it was written`);
    else notes.count('lines left out: not JSON', `line ${number}: ${error.message}`);
  }
  return null;
}

/** The note that reports of a line above the limit. */
export function longLineNote(notes: ImportNotes): (line: { readonly number: number; readonly bytes: number }) => void {
  return ({ number, bytes }) => notes.count('lines left out: too long', `line ${number} has ${bytes} bytes`);
}
