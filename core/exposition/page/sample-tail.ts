import { BRACE_OPEN, HASH, LF, MINUS, SPACE, TAB, type Dialect, type PageCursor } from './page-cursor.ts';
import type { Exemplar, ParseLimits } from '../exposition.ts';
import { readLabelBlock } from './label-block.ts';
import { makeLabels } from './byte-interner.ts';
import { parseGoFloat } from './read-number.ts';

const MAX_EXEMPLAR_CHARACTERS = 128;
const INT64 = /^-?[0-9]+$/;
const MAX_INT64 = 2 ** 63;

export interface SampleTail {
  readonly value: number;
  readonly timestampSeconds: number | null;
  readonly exemplar: Exemplar | null;
}

/** What follows name and labels: value, time, exemplar. The cursor ends after the line feed. */
export function readSampleTail(cursor: PageCursor, dialect: Dialect, limits: ParseLimits): SampleTail {
  return dialect.blanks ? readTextTail(cursor) : readOpenMetricsTail(cursor, dialect, limits);
}

function readTextTail(cursor: PageCursor): SampleTail {
  const { bytes } = cursor;
  cursor.skip(SPACE, TAB);
  const value = readFloat(cursor, 'a value');
  cursor.skip(SPACE, TAB);
  let timestampSeconds: number | null = null;
  const start = cursor.at;
  if (bytes[start] === MINUS || isDigit(bytes[start])) {
    cursor.at++;
    while (isDigit(bytes[cursor.at])) cursor.at++;
    const text = cursor.text(start, cursor.at, 'a timestamp');
    const milliseconds = INT64.test(text) ? Number(text) : NaN;
    if (!(Math.abs(milliseconds) <= MAX_INT64)) throw cursor.error(start, 'a timestamp beyond 64 bits');
    timestampSeconds = milliseconds / 1000;
    cursor.skip(SPACE, TAB);
  }
  if (bytes[cursor.at] !== LF) throw cursor.unexpected(cursor.at, 'a timestamp or the end of the line');
  cursor.at++;
  return { value, timestampSeconds, exemplar: null };
}

function readOpenMetricsTail(cursor: PageCursor, dialect: Dialect, limits: ParseLimits): SampleTail {
  const { bytes } = cursor;
  expectSpace(cursor);
  const value = readFloat(cursor, 'a value');
  let timestampSeconds: number | null = null;
  if (bytes[cursor.at] === SPACE && bytes[cursor.at + 1] !== HASH) timestampSeconds = readTimestamp(cursor);
  let exemplar: Exemplar | null = null;
  if (bytes[cursor.at] === SPACE) {
    for (const expected of [SPACE, HASH, SPACE, BRACE_OPEN]) {
      if (bytes[cursor.at] !== expected) throw cursor.unexpected(cursor.at, 'an exemplar " # {…} value"');
      cursor.at++;
    }
    exemplar = readExemplar(cursor, dialect, limits);
  }
  if (bytes[cursor.at] !== LF) throw cursor.unexpected(cursor.at, 'the end of the line');
  cursor.at++;
  return { value, timestampSeconds, exemplar };
}

function readExemplar(cursor: PageCursor, dialect: Dialect, limits: ParseLimits): Exemplar {
  const start = cursor.at;
  const { pairs } = readLabelBlock(cursor, dialect, limits, true);
  let characters = 0;
  for (const [name, value] of pairs) characters += [...name].length + [...value].length;
  if (dialect.strict && characters > MAX_EXEMPLAR_CHARACTERS)
    throw cursor.error(start, `an exemplar with more than ${MAX_EXEMPLAR_CHARACTERS} characters of labels`);
  expectSpace(cursor);
  const value = readFloat(cursor, "an exemplar's value");
  const timestampSeconds = cursor.bytes[cursor.at] === SPACE ? readTimestamp(cursor) : null;
  return { labels: makeLabels(pairs), value, timestampSeconds };
}

/** OpenMetrics: seconds as a real number. */
function readTimestamp(cursor: PageCursor): number {
  expectSpace(cursor);
  const start = cursor.at;
  const seconds = readFloat(cursor, 'a timestamp');
  if (!Number.isFinite(seconds)) throw cursor.error(start, 'a timestamp that is not finite');
  return seconds;
}

function expectSpace(cursor: PageCursor): void {
  if (cursor.bytes[cursor.at] !== SPACE) throw cursor.unexpected(cursor.at, 'one space');
  cursor.at++;
}

function readFloat(cursor: PageCursor, what: string): number {
  const { bytes } = cursor;
  const start = cursor.at;
  let end = start;
  for (let c = bytes[end]; c !== SPACE && c !== TAB && c !== LF && c !== BRACE_OPEN && end < cursor.end; c = bytes[end])
    end++;
  const value = end - start > 400 ? undefined : parseGoFloat(asciiText(bytes, start, end));
  if (value === undefined) throw cursor.unexpected(start, what);
  cursor.at = end;
  return value;
}

/** Numbers are ASCII; other bytes become characters that no number has. */
function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i] as number);
  return text;
}

function isDigit(c: number | undefined): boolean {
  return c !== undefined && c >= 48 && c <= 57;
}
