import { DuplicateKeyError, JsonTextError, parseJson } from './json-text.ts';
import { ImportRefusal } from '../import-refusal.ts';
import type { ImportNotes } from '../import-notes.ts';
import { isObject } from './fields.ts';
import { readLineBlocks } from './read-lines.ts';
import type { LongLine } from './read-lines.ts';
import type { Reading, SourceFile } from './source-file.ts';

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
