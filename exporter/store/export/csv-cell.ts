/** What a spreadsheet takes for a formula when a text begins with it. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * A value as a cell of CSV (RFC 4180); nothing for null. A text that a spreadsheet would take for a formula gets an
 * apostrophe in front, as spreadsheets themselves mark a text.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvLine = (values: readonly unknown[]): string => `${values.map(csvCell).join(',')}\n`;
