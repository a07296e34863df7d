import { HASH, LF, SPACE, TAB } from './characters.ts';
import type { Dialect } from './dialect.ts';
import { Dictionaries } from './dictionaries.ts';
import { ExpositionError } from '../exposition-error.ts';
import { readHashLine } from './metadata-line.ts';
import { PageCursor } from './page-cursor.ts';
import { PageRows } from './page-rows.ts';
import type { ParseLimits } from '../parse-options.ts';
import { SampleReader } from './sample-reader.ts';

/** Typical bytes per sample, for the first size of the columns. */
const BYTES_PER_ROW = 96;

/** A page that is read: its lines as rows. */
export interface Page {
  readonly cursor: PageCursor;
  readonly dialect: Dialect;
  readonly dictionaries: Dictionaries;
  readonly rows: PageRows;
  readonly missingFinalNewline: boolean;
}

/** The page with a line feed at its end, so that every scan of a line stops. */
function openPage(bytes: Uint8Array, limits: ParseLimits): { cursor: PageCursor; missingFinalNewline: boolean } {
  if (bytes.length > limits.maxBytes)
    throw new ExpositionError(0, 0, `the page has ${bytes.length} bytes, more than ${limits.maxBytes}`);
  if (bytes.length === 0 || bytes[bytes.length - 1] === LF)
    return { cursor: new PageCursor(bytes), missingFinalNewline: false };
  const closed = new Uint8Array(bytes.length + 1);
  closed.set(bytes);
  closed[bytes.length] = LF;
  return { cursor: new PageCursor(closed), missingFinalNewline: true };
}

/** Reads a whole page. Throws ExpositionError: nothing of an invalid page is kept. */
export function readPage(
  bytes: Uint8Array,
  dialect: Dialect,
  limits: ParseLimits,
  dictionaries = new Dictionaries(),
): Page {
  const { cursor, missingFinalNewline } = openPage(bytes, limits);
  const rows = new PageRows(Math.min(limits.maxSamples, 16 + Math.ceil(bytes.length / BYTES_PER_ROW)));
  const reader = new SampleReader(cursor, dictionaries, rows, dialect, limits);
  let at = 0;
  while (at >= 0 && at < cursor.end) at = readLine(cursor, reader, rows, dialect, dictionaries, at);
  if (!dialect.blanks && at >= 0) throw cursor.error(cursor.end, 'the page does not end with "# EOF"');
  return { cursor, dialect, dictionaries, rows, missingFinalNewline };
}

/** One line of any kind; returns the start of the next, or −1 at the end mark of OpenMetrics. */
function readLine(
  cursor: PageCursor,
  reader: SampleReader,
  rows: PageRows,
  dialect: Dialect,
  dictionaries: Dictionaries,
  start: number,
): number {
  const c = cursor.bytes[start];
  if (c === HASH) return readHashLine(cursor, start, dialect, rows, dictionaries);
  if (dialect.blanks && (c === LF || c === SPACE || c === TAB)) {
    cursor.at = start;
    cursor.skip(SPACE, TAB);
    if (cursor.bytes[cursor.at] === LF) return cursor.at + 1;
    if (cursor.bytes[cursor.at] === HASH) return readHashLine(cursor, cursor.at, dialect, rows, dictionaries);
  }
  return reader.read(start);
}
