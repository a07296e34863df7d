import { QUOTE, SPACE, TAB, isNamePart, isNameStart } from './characters.ts';
import { FNV_START, hashBytes } from './byte-interner.ts';
import type { Dialect } from './dialect.ts';
import type { Dictionaries } from './dictionaries.ts';
import type { MetricType } from '../exposition.ts';
import { quoteForMessage } from '../exposition-error.ts';
import { readQuoted } from './label-block.ts';
import type { PageCursor } from './page-cursor.ts';
import type { PageRows } from './page-rows.ts';
import { unescapeHelp, unescapeQuoted } from './unescape.ts';

const TEXT_TYPES: ReadonlyMap<string, MetricType> = new Map([
  ['counter', 'counter'],
  ['gauge', 'gauge'],
  ['histogram', 'histogram'],
  ['summary', 'summary'],
  ['untyped', 'unknown'],
]);
const OPENMETRICS_TYPES: ReadonlyMap<string, MetricType> = new Map(
  (['counter', 'gauge', 'histogram', 'gaugehistogram', 'summary', 'info', 'stateset', 'unknown'] as const).map(
    (type) => [type, type],
  ),
);

/** Reads a line that starts with `#`. Returns the start of the next line, or −1 at the end mark of OpenMetrics. */
export function readHashLine(
  cursor: PageCursor,
  start: number,
  dialect: Dialect,
  rows: PageRows,
  dictionaries: Dictionaries,
): number {
  const { bytes } = cursor;
  cursor.at = start + 1;
  if (dialect.blanks) cursor.skip(SPACE, TAB);
  else if (bytes[cursor.at] === SPACE) cursor.at++;
  const keyword = cursor.at > start + 1 ? readKeyword(cursor, dialect) : null;
  if (keyword === 'EOF') {
    if (cursor.lineEnd(start) + 1 < cursor.end) throw cursor.error(cursor.lineEnd(start) + 1, 'text after "# EOF"');
    return -1;
  }
  if (keyword === null) {
    if (!dialect.blanks) throw cursor.unexpected(start, '"# HELP ", "# TYPE ", "# UNIT " or "# EOF"');
    return cursor.lineEnd(start) + 1;
  }
  const nameStart = cursor.at;
  const name =
    bytes[nameStart] === QUOTE ? readQuoted(cursor, dialect, 'a metric name') : readName(cursor, keyword, dictionaries);
  const end = cursor.lineEnd(cursor.at);
  if (!dialect.blanks && bytes[cursor.at] !== SPACE) throw cursor.unexpected(cursor.at, `one space after the name`);
  const textStart = Math.min(cursor.at + 1, end);
  const text = cursor.text(textStart, end, `the text of ${keyword}`);
  if (keyword === 'TYPE' && metricType(text, dialect) === undefined)
    throw cursor.error(textStart, `not a metric type: ${quoteForMessage(text)}`);
  if (keyword === 'UNIT' && text !== '' && !name.endsWith(`_${text}`))
    throw cursor.error(textStart, `the unit ${quoteForMessage(text)} is not the end of the name`);
  const unescaped = keyword !== 'HELP' ? text : shortHelp(dialect.blanks ? unescapeHelp(text) : unescapeQuoted(text));
  rows.metadata.push({ keyword, name, text: unescaped, offset: start, row: rows.count });
  return end + 1;
}

/** Characters of a HELP that are kept: it is text for people, and no page is refused for it. */
const MAX_HELP = 4096;

export function shortHelp(help: string): string {
  return help.length <= MAX_HELP ? help : `${help.slice(0, MAX_HELP).toWellFormed()}…`;
}

/** The type that the text of a TYPE line names in a format. */
export function metricType(text: string, dialect: Dialect): MetricType | undefined {
  return (dialect.blanks ? TEXT_TYPES : OPENMETRICS_TYPES).get(text);
}

const [HELP, TYPE, UNIT, END_MARK] = ['HELP', 'TYPE', 'UNIT', 'EOF\n'].map((word) =>
  new TextEncoder().encode(word),
) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];

type Keyword = 'HELP' | 'TYPE' | 'UNIT' | 'EOF';

function readKeyword(cursor: PageCursor, dialect: Dialect): Keyword | null {
  const { bytes, at } = cursor;
  const openMetrics = !dialect.blanks;
  if (openMetrics && spells(bytes, at, END_MARK)) return 'EOF';
  const keyword = spells(bytes, at, HELP)
    ? 'HELP'
    : spells(bytes, at, TYPE)
      ? 'TYPE'
      : openMetrics && spells(bytes, at, UNIT)
        ? 'UNIT'
        : null;
  const next = bytes[at + 4];
  if (keyword === null || (next !== SPACE && (openMetrics || next !== TAB))) return null;
  cursor.at = at + 5;
  if (!openMetrics) cursor.skip(SPACE, TAB);
  return keyword;
}

function spells(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
  return true;
}

/** Names recur, in the next line and in samples: looked up before they are decoded. */
function readName(cursor: PageCursor, keyword: string, { nameBytes, names }: Dictionaries): string {
  const { bytes, at: start } = cursor;
  if (!isNameStart(bytes[start])) throw cursor.unexpected(start, `a metric name after ${keyword}`);
  let end = start;
  while (isNamePart(bytes[end])) end++;
  cursor.at = end;
  const known = nameBytes.find(bytes, hashBytes(bytes, start, end, FNV_START), start, end, 0, 0);
  return known >= 0 ? (names[known] as string) : cursor.text(start, end, 'a metric name');
}
