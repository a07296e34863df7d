import {
  quoteForMessage,
  ExpositionError,
  type ParseLimits,
  seriesText,
  type Duplicates,
  type Labels,
} from '../exposition.ts';
import { FNV_START, hashBytes, Dictionaries } from './byte-interner.ts';
import { readQuoted, unescapeHelp, unescapeQuoted } from './label-block.ts';
import {
  QUOTE,
  SPACE,
  TAB,
  isNamePart,
  isNameStart,
  PageCursor,
  HASH,
  LF,
  metricType,
  type Dialect,
} from './page-cursor.ts';
import { PageRows, PageLayout, type Page, type PageValues } from './parsed-exposition.ts';
import { SampleReader } from './sample-reader.ts';

/** Reads a line that starts with `#`. Returns the start of the next line, or −1 at the end mark of OpenMetrics. */
function readHashLine(
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

/** Typical bytes per sample, for the first size of the columns. */
const BYTES_PER_ROW = 96;

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

/** Rows whose series and time stand in an earlier row, ascending. */
function findDuplicateRows(rows: PageRows, dictionaries: Dictionaries): number[] {
  const { count, nameIds, labelSetIds, boundIds, timestampsSeconds } = rows;
  const { identities } = dictionaries.labelSets;
  let capacity = 16;
  while (capacity < count * 2) capacity *= 2;
  const mask = capacity - 1;
  const slots = new Int32Array(capacity);
  const duplicates: number[] = [];
  for (let row = 0; row < count; row++) {
    const name = nameIds[row] as number;
    const set = identities[labelSetIds[row] as number] as number;
    const bound = boundIds[row] as number;
    let hash = Math.imul(name, 0x9e3779b1) ^ Math.imul(set + 1, 0x85ebca6b) ^ Math.imul(bound + 2, 0xc2b2ae35);
    hash ^= hash >>> 15;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const other = (slots[slot] as number) - 1;
      if (other < 0) {
        slots[slot] = row + 1;
        break;
      }
      if (
        nameIds[other] === name &&
        boundIds[other] === bound &&
        identities[labelSetIds[other] as number] === set &&
        (timestampsSeconds === null || Object.is(timestampsSeconds[other], timestampsSeconds[row]))
      ) {
        duplicates.push(row);
        break;
      }
    }
  }
  return duplicates;
}

/** Removes rows from the columns and adjusts references to rows. */
function removeRows(rows: PageRows, removed: readonly number[]): void {
  const exemplars = [...rows.exemplars];
  rows.exemplars.clear();
  const shift = shiftOf(removed);
  for (const [row, exemplar] of exemplars) {
    const before = shift(row);
    if (removed[before] !== row) rows.exemplars.set(row - before, exemplar);
  }
  rows.metadata.forEach((line, i) => {
    rows.metadata[i] = { ...line, row: line.row - shift(line.row) };
  });
  let to = 0;
  let next = 0;
  for (let row = 0; row < rows.count; row++) {
    if (removed[next] === row) {
      next++;
      continue;
    }
    rows.nameIds[to] = rows.nameIds[row] as number;
    rows.labelSetIds[to] = rows.labelSetIds[row] as number;
    rows.boundIds[to] = rows.boundIds[row] as number;
    rows.values[to] = rows.values[row] as number;
    if (rows.timestampsSeconds !== null) rows.timestampsSeconds[to] = rows.timestampsSeconds[row] as number;
    to++;
  }
  rows.count = to;
}

/** How many removed rows stand before a row. */
function shiftOf(removed: readonly number[]): (row: number) => number {
  return (row) => {
    let low = 0;
    let high = removed.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((removed[middle] as number) < row) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

const MAX_EXAMPLES = 10;

/** The parts of a page that its columns require. */
type UnfinishedPage = Omit<Page, 'cursor'> & { readonly cursor: Pick<Page['cursor'], 'lineNumber'> };

/** Takes duplicates out of the rows of a page and makes its columns final. */
export function finishPage(page: UnfinishedPage): { layout: PageLayout; values: PageValues } {
  const { rows, dictionaries } = page;
  const repeated = findDuplicateRows(rows, dictionaries);
  const duplicates = describe(page, repeated);
  if (repeated.length > 0) removeRows(rows, repeated);
  const { count } = rows;
  const layout = new PageLayout(
    page.dialect,
    dictionaries,
    {
      nameIds: exact(rows.nameIds, count),
      labelSetIds: exact(rows.labelSetIds, count),
      boundIds: exact(rows.boundIds, count),
    },
    rows.metadata,
    duplicates,
  );
  return { layout, values: valuesOf(page) };
}

/** What differs between pages of the same layout. */
export function valuesOf({ rows, missingFinalNewline }: UnfinishedPage): PageValues {
  const { count, values, timestampsSeconds, exemplars } = rows;
  return {
    values: exact(values, count),
    timestampsSeconds: timestampsSeconds === null ? null : exact(timestampsSeconds, count),
    exemplars,
    missingFinalNewline,
  };
}

/** The columns grow in steps: what is kept has no free room. */
function exact<T extends Float64Array | Int32Array>(column: T, count: number): T {
  return column.length === count ? column : (column.slice(0, count) as T);
}

function describe({ rows, dictionaries, cursor }: UnfinishedPage, repeated: readonly number[]): Duplicates {
  const examples = repeated.slice(0, MAX_EXAMPLES).map((row) => {
    const labels = dictionaries.labelSets.sets[rows.labelSetIds[row] as number] as Labels;
    const boundId = rows.boundIds[row] as number;
    const all = boundId < 0 ? labels : { ...labels, le: dictionaries.bounds[boundId] as string };
    return {
      line: cursor.lineNumber(rows.lineStarts[row] as number),
      series: seriesText(dictionaries.names[rows.nameIds[row] as number] as string, all),
    };
  });
  return { count: repeated.length, examples };
}
