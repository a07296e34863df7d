import { csvLine } from './csv-cell.ts';
import type { ExportRow, RowColumn } from './run-rows.ts';

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
