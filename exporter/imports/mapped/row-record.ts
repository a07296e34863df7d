import {
  ERROR_REASONS,
  PHASES,
  type ErrorReason,
  type PhaseName,
  type RequestRecord,
  outcomeOf,
} from '../../../core/run/record.ts';
import { printable, ImportRefusal, type ImportNotes } from '../import-notes.ts';
import { UNREPORTED } from '../importer.ts';
import { csvRows } from '../reading/csv.ts';
import { isObject } from '../reading/fields.ts';
import { readJsonDocument, readText } from '../reading/read-document.ts';
import { readJsonLines } from '../reading/read-lines.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import type { IsoTimes } from '../reading/wall-time.ts';
import type { ColumnMapping, MappedColumn, MappedField } from './mapping.ts';

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

/** The cells of a row by field: numbers in nanoseconds, tokens or plain; null where the row has nothing. */
export class MappedRow {
  readonly #row: SourceRow;
  readonly #columns: ReadonlyMap<MappedField, { readonly column: string; readonly scale: MappedColumn['scale'] }>;
  readonly #notes: ImportNotes;
  readonly #times: IsoTimes;

  constructor(row: SourceRow, mapping: ColumnMapping, times: IsoTimes, notes: ImportNotes) {
    this.#row = row;
    this.#times = times;
    this.#columns = new Map(mapping.columns.map(({ field, ...rest }) => [field, rest]));
    this.#notes = notes;
  }

  text(field: MappedField): string | null {
    const column = this.#columns.get(field)?.column;
    return column === undefined ? null : textIn(this.#row, column);
  }

  number(field: MappedField): number | null {
    const mapped = this.#columns.get(field);
    if (mapped === undefined) return null;
    if (mapped.scale === 'iso') return isoIn(this.#row, mapped.column, field, this.#times, this.#notes);
    const found = numberIn(this.#row, mapped.column, field, this.#notes);
    return found === null ? null : found * mapped.scale;
  }

  /** Rounded to whole nanoseconds or tokens. */
  whole(field: MappedField): number | null {
    const value = this.number(field);
    return value === null ? null : Math.round(value);
  }

  /** A phase with an unknown name is measured, and counted in the notes, since a warm-up may have another name. */
  phase(): PhaseName {
    const name = this.text('phase')?.trim().toLowerCase();
    const phase = PHASES.find((each) => each === name);
    if (name !== undefined && phase === undefined)
      this.#notes.count(`requests of the phase ${printable(name)}, which are measured`, `row ${this.#row.number}`);
    return phase ?? 'measure';
  }
}

/** The request of a row; times are ns since `zero_ns`. Null when the row does not report when it was sent and ended. */
export function recordOfRow(
  row: MappedRow,
  index: number,
  zero_ns: number,
  { tokens }: ColumnMapping,
): RequestRecord | null {
  const since = (at: number | null): number | null => (at === null ? null : Math.round(at - zero_ns));
  const sent_ns = since(row.number('sent'));
  if (sent_ns === null) return null;
  const [first, latency] = [row.whole('time_to_first_token'), row.whole('request_latency')];
  const end_ns = since(row.number('end')) ?? (latency === null ? null : sent_ns + latency);
  if (end_ns === null) return null;
  const status = row.whole('http_status');
  const reason = reasonOf(row.text('error'), status);
  const [input, output] = [row.whole('input_tokens'), row.whole('output_tokens')];
  return {
    ...UNREPORTED,
    index,
    phase: row.phase(),
    due_ns: since(row.number('due')),
    sent_ns,
    first_content_ns: first === null ? null : sent_ns + first,
    last_content_ns: latency !== null ? sent_ns + latency : reason === null ? end_ns : null,
    end_ns,
    outcome: outcomeOf(reason),
    reason,
    http_status: status,
    input_tokens: input,
    input_tokens_source: input === null ? null : tokens,
    output_tokens: output,
    output_tokens_source: output === null ? null : tokens,
    reasoning_tokens: row.whole('reasoning_tokens'),
    cached_tokens: row.whole('cached_tokens'),
    requested_output_tokens: row.whole('requested_output_tokens'),
  };
}

const NO_ERROR = new Set(['', '0', 'false', 'none', 'null', 'ok', 'success']);

/** One of our reasons by its name; any other text in a column of errors is a failure that is none of the others. */
function reasonOf(error: string | null, status: number | null): ErrorReason | null {
  const text = (error ?? '').trim().toLowerCase();
  if (status === 429) return 'http_429';
  if (status !== null && status >= 500) return 'http_5xx';
  if (status !== null && status >= 400) return 'http_4xx';
  if (status !== null && status >= 300) return 'redirect';
  const named = ERROR_REASONS.find((reason) => reason === text);
  if (named !== undefined) return named;
  // Tools write 0 where no response came.
  if (status !== null && status < 200) return 'other';
  if (NO_ERROR.has(text)) return null;
  return 'other';
}

const NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

/** The text of a cell; null where the row has none. */
function textIn({ cells }: SourceRow, column: string): string | null {
  const value = cells[column];
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** The decimal number of a cell; null where the row has none. Another text is counted in the notes as one of `name`. */
export function numberIn(row: SourceRow, column: string, name: string, notes: ImportNotes): number | null {
  const text = textIn(row, column);
  if (text === null) return null;
  const value = NUMBER.test(text) ? Number(text) : NaN;
  if (Number.isFinite(value)) return value;
  notes.count('values read as unknown: not a number', `row ${row.number}, ${name}`);
  return null;
}

/** The same of a date and time, in nanoseconds since 1970. */
export function isoIn(
  row: SourceRow,
  column: string,
  name: string,
  times: IsoTimes,
  notes: ImportNotes,
): number | null {
  const text = textIn(row, column);
  const value = text === null ? null : times.nanoseconds(text);
  if (text !== null && value === null)
    notes.count('values read as unknown: not a date and time of ISO 8601', `row ${row.number}, ${name}`);
  return value;
}
