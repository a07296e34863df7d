import type { ImportNotes } from '../import-notes.ts';
import type { IsoTimes } from '../reading/wall-time.ts';
import type { SourceRow } from './rows.ts';

const NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

/** The text of a cell; null where the row has none. */
export function textIn({ cells }: SourceRow, column: string): string | null {
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
