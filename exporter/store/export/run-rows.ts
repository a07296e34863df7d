import { indexedMeasure, MEASURE_COLUMNS } from '../index/rows.ts';
import { RECORD_COLUMNS, type ColumnKind } from '../records/record-columns.ts';
import type { RunStore } from '../run-store.ts';

export type RowKind = 'requests' | 'measures';

export interface RowColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

export type ExportRow = Readonly<Record<string, unknown>>;

/** The columns of an exported row: `run_id`, then the columns of records/<shard>.parquet, or those of a measure. */
export const ROW_COLUMNS: Readonly<Record<RowKind, readonly RowColumn[]>> = {
  requests: [{ name: 'run_id', kind: 'string' }, ...RECORD_COLUMNS.map(({ name, kind }) => ({ name, kind }))],
  measures: Object.entries(MEASURE_COLUMNS).map(([name, content]) => ({
    name,
    kind: content === 'text' ? 'string' : 'double',
  })),
};

/** The rows of runs, run by run. Throws if a run's files cannot be read. */
export async function* runRows(store: RunStore, runIds: readonly string[], kind: RowKind): AsyncGenerator<ExportRow> {
  for (const runId of runIds) {
    if (kind === 'measures') {
      for (const measure of (await store.readResult(runId)).measures) yield { ...indexedMeasure(runId, measure) };
    } else {
      for await (const record of store.readRecords(await store.readRun(runId))) yield { run_id: runId, ...record };
    }
  }
}

/** Characters that start a formula in spreadsheets. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * A value as a CSV cell (RFC 4180); empty for null. Text that a spreadsheet would interpret as a formula gets a leading
 * apostrophe, as spreadsheets mark text.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvLine = (values: readonly unknown[]): string => `${values.map(csvCell).join(',')}\n`;

const ROWS_AT_ONCE = 1000;

/** Rows as text in pieces: CSV with a header line, or one JSON object per line. */
export async function* rowText(
  columns: readonly RowColumn[],
  rows: AsyncIterable<ExportRow>,
  format: 'csv' | 'jsonl',
): AsyncGenerator<string> {
  const names = columns.map(({ name }) => name);
  const line =
    format === 'csv'
      ? (row: ExportRow) => csvLine(names.map((name) => row[name]))
      : (row: ExportRow) => `${JSON.stringify(Object.fromEntries(names.map((name) => [name, row[name] ?? null])))}\n`;
  if (format === 'csv') yield csvLine(names);
  let lines: string[] = [];
  for await (const row of rows) {
    lines.push(line(row));
    if (lines.length < ROWS_AT_ONCE) continue;
    yield lines.join('');
    lines = [];
  }
  if (lines.length > 0) yield lines.join('');
}
