import type { ParseLimits } from '../exposition.ts';
import {
  BACKSLASH,
  BRACE_CLOSE,
  COMMA,
  EQUALS,
  LF,
  QUOTE,
  SPACE,
  TAB,
  isLabelPart,
  isLabelStart,
  type Dialect,
  type PageCursor,
} from './page-cursor.ts';

/**
 * `\\`, `\"` and `\n` of label values and names; a backslash before any other character is literal, as in Prometheus.
 */
export function unescapeQuoted(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([\\"n])/g, (_, c: string) => (c === 'n' ? '\n' : c));
}

/** HELP of the text format: `\\` and `\n`. */
export function unescapeHelp(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([\\n])/g, (_, c: string) => (c === 'n' ? '\n' : c));
}

export interface LabelBlock {
  /** The metric name, when it is inside the braces: `{"my.name"}`. */
  readonly name: string | null;
  readonly pairs: [string, string][];
}

/**
 * Reads the labels from after `{` to after `}`, with full checks and an exact error message. As in Prometheus, the text
 * format allows blanks between all parts and no comma, OpenMetrics allows neither.
 */
export function readLabelBlock(
  cursor: PageCursor,
  dialect: Dialect,
  limits: ParseLimits,
  exemplar = false,
): LabelBlock {
  const { bytes } = cursor;
  const pairs: [string, string][] = [];
  const seen = new Set<string>();
  let name: string | null = null;
  const blanks = (): void => {
    if (dialect.blanks) cursor.skip(SPACE, TAB);
  };
  blanks();
  while (bytes[cursor.at] !== BRACE_CLOSE) {
    const start = cursor.at;
    const quoted = bytes[start] === QUOTE;
    const label = quoted ? readQuoted(cursor, dialect, 'a name') : readLabelName(cursor);
    if (cursor.at - start > limits.maxLabelNameBytes + (quoted ? 2 : 0))
      throw cursor.error(start, `a name is longer than ${limits.maxLabelNameBytes} bytes`);
    if (label === '') throw cursor.error(start, 'a name is empty');
    blanks();
    const next = bytes[cursor.at];
    if (quoted && !exemplar && (next === COMMA || next === BRACE_CLOSE)) {
      if (name !== null) throw cursor.error(start, 'the metric has a second name');
      name = label;
    } else {
      if (next !== EQUALS) throw cursor.unexpected(cursor.at, '"="');
      cursor.at++;
      blanks();
      const valueStart = cursor.at;
      if (bytes[valueStart] !== QUOTE) throw cursor.unexpected(valueStart, 'a label value in double quotes');
      const value = readQuoted(cursor, dialect, 'a label value');
      if (cursor.at - valueStart - 2 > limits.maxLabelValueBytes)
        throw cursor.error(valueStart, `a label value is longer than ${limits.maxLabelValueBytes} bytes`);
      if (seen.has(label)) throw cursor.error(start, 'a label name is not unique');
      if (label === '__name__') throw cursor.error(start, '"__name__" cannot be a label');
      seen.add(label);
      if (pairs.length === limits.maxLabels) throw cursor.error(start, `more than ${limits.maxLabels} labels`);
      pairs.push([label, value]);
      blanks();
    }
    if (bytes[cursor.at] === COMMA) {
      cursor.at++;
      blanks();
    } else if (!dialect.blanks && bytes[cursor.at] !== BRACE_CLOSE) {
      throw cursor.unexpected(cursor.at, '"," or "}"');
    }
  }
  cursor.at++;
  return { name, pairs };
}

/** A quoted string with escapes; in the text format it may hold raw line feeds, as in Prometheus. */
export function readQuoted(cursor: PageCursor, dialect: Dialect, what: string): string {
  const { bytes, end } = cursor;
  const start = cursor.at + 1;
  let i = start;
  for (; bytes[i] !== QUOTE; i++) {
    if (bytes[i] === BACKSLASH) i++;
    if (i >= end || (bytes[i] === LF && (!dialect.blanks || bytes[i - 1] === BACKSLASH)))
      throw cursor.error(start - 1, `${what} has no closing quote`);
  }
  cursor.at = i + 1;
  return unescapeQuoted(cursor.text(start, i, what));
}

function readLabelName(cursor: PageCursor): string {
  const start = cursor.at;
  if (!isLabelStart(cursor.bytes[start])) throw cursor.unexpected(start, 'a label name');
  while (isLabelPart(cursor.bytes[cursor.at])) cursor.at++;
  return cursor.text(start, cursor.at, 'a label name');
}
