import { csvRows } from '../reading/csv.ts';
import { isObject } from '../reading/fields.ts';
import { printable } from '../import-notes.ts';
import type { ImportNotes } from '../import-notes.ts';
import { ImportRefusal } from '../import-refusal.ts';
import { readJsonDocument, readText } from '../reading/read-document.ts';
import { readJsonLines } from '../reading/read-json-lines.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';

/** A row by the names of its columns; numbers of a CSV are texts. */
export interface SourceRow {
  readonly number: number;
  readonly cells: Readonly<Record<string, unknown>>;
}

/** The rows of a CSV with a head, of a JSON list of objects, or of JSON lines. Throws `ImportRefusal`. */
export async function* rowsOf(file: SourceFile, notes: ImportNotes, reading: Reading): AsyncGenerator<SourceRow> {
  const start = file.head.text.trimStart();
  if (start.startsWith('[')) yield* listRows(await readJsonDocument(file, notes, reading), file);
  else if (file.head.isJsonLines) {
    for await (const { number, value } of readJsonLines(file, notes, reading)) yield { number, cells: value };
  } else if (start.startsWith('{'))
    yield { number: 1, cells: objectOf(await readJsonDocument(file, notes, reading), file) };
  else yield* tableRows(await readText(file, reading), file, notes);
}

function* listRows(list: unknown, file: SourceFile): Generator<SourceRow> {
  for (const [i, value] of (Array.isArray(list) ? list : []).entries()) {
    yield { number: i + 1, cells: objectOf(value, file) };
  }
}

function objectOf(value: unknown, file: SourceFile): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  throw new ImportRefusal(`${file.name}: not every entry of its list is an object`);
}

function* tableRows(text: string, file: SourceFile, notes: ImportNotes): Generator<SourceRow> {
  let head: readonly string[] | null = null;
  let number = 0;
  for (const row of csvRows(text)) {
    number += 1;
    if (row.length === 1 && row[0] === '') continue;
    if (head === null) {
      head = row.map((name) => name.trim());
      const twice = head.find((name, i) => name !== '' && head?.indexOf(name) !== i);
      if (twice !== undefined) throw new ImportRefusal(`${file.name}: it has the column "${printable(twice)}" twice`);
      continue;
    }
    if (row.length !== head.length) {
      notes.count('rows left out: not as many fields as columns', `row ${number}`);
      continue;
    }
    const cells = Object.create(null) as Record<string, string>;
    head.forEach((name, i) => (cells[name] = row[i] ?? ''));
    yield { number, cells };
  }
}
