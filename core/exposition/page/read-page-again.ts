import { LF } from './characters.ts';
import type { Dialect } from './dialect.ts';
import type { Dictionaries } from './dictionaries.ts';
import type { PageCursor } from './page-cursor.ts';
import type { ParseLimits } from '../parse-options.ts';
import { NumberReader } from './read-number.ts';
import { openPage, readLine, requireEndMark } from './read-page.ts';
import type { ReferencePage } from './reference-page.ts';
import { RepeatedPage } from './repeated-page.ts';
import { SampleReader } from './sample-reader.ts';
import { readSampleTail } from './sample-tail.ts';

/**
 * Reads a page with the help of an earlier one of the same target: where the bytes are the expected ones only the value
 * is read, other lines are read as always and tell where to go on. `withLines` keeps where the lines start. Throws ExpositionError as `readPage` does.
 */
export function readPageAgain(
  bytes: Uint8Array,
  dialect: Dialect,
  limits: ParseLimits,
  dictionaries: Dictionaries,
  reference: ReferencePage,
  withLines = false,
): RepeatedPage {
  const { cursor, missingFinalNewline } = openPage(bytes, limits);
  const page = new RepeatedPage(cursor.bytes, missingFinalNewline, reference, withLines);
  const fresh = new FreshLines(page, cursor, dialect, limits, dictionaries, reference);
  const view = new DataView(cursor.bytes.buffer, cursor.bytes.byteOffset, cursor.bytes.byteLength);
  const numbers = new NumberReader();
  const { end } = cursor;
  let at = 0;
  /** Where the line after the last row starts: there, and only there, a key can begin. */
  let keyStart = 0;
  let endsAlike = false;
  while (at >= 0 && at < end) {
    let row = fresh.next;
    let valueStart = at === keyStart ? reference.matchKey(row, view, at, end) : 0;
    if (valueStart === 0 && at === keyStart && fresh.replaced > 0) {
      row += fresh.replaced;
      valueStart = reference.matchKey(row, view, at, end);
    }
    if (valueStart > 0) {
      fresh.goOnBehind(row);
      if (page.count >= limits.maxSamples)
        throw tooManySamples(cursor, limits, valueStart - reference.identityLength(row));
      const value = numbers.readShort(cursor.bytes, valueStart);
      if (value !== undefined && cursor.bytes[numbers.end] === LF) {
        page.pushKnown(row, value);
        at = numbers.end + 1;
      } else {
        cursor.at = valueStart - 1;
        const tail = readSampleTail(cursor, dialect, limits);
        page.pushKnown(row, tail.value);
        page.setTail(tail.timestampSeconds, tail.exemplar);
        at = cursor.at;
      }
      if (withLines) page.setLineStart(valueStart - reference.identityLength(row));
      keyStart = at;
    } else if (at === keyStart && reference.matchEnd(view, at)) {
      endsAlike = true;
      at = -1;
    } else {
      at = fresh.read(at, keyStart);
      if (fresh.lastWasRow) keyStart = at;
    }
  }
  requireEndMark(cursor, dialect, at);
  page.finish(endsAlike || (at === keyStart && reference.matchEnd(view, at)) ? null : keyStart);
  return page;
}

function tooManySamples(cursor: PageCursor, limits: ParseLimits, lineStart: number): Error {
  return cursor.error(lineStart, `more than ${limits.maxSamples} samples`);
}

/** Reads the lines that are not expected, and keeps track of where in the earlier page the reading is. */
class FreshLines {
  /** The row of the earlier page that is expected. */
  next = 0;
  /** Rows read since one was recognized: that many may have been replaced. */
  replaced = 0;
  lastWasRow = false;
  private readonly page: RepeatedPage;
  private readonly cursor: PageCursor;
  private readonly dialect: Dialect;
  private readonly limits: ParseLimits;
  private readonly dictionaries: Dictionaries;
  private readonly reference: ReferencePage;
  private readonly reader: SampleReader;
  /** Label sets of the earlier page have lower ids. */
  private readonly firstNewSet: number;

  constructor(
    page: RepeatedPage,
    cursor: PageCursor,
    dialect: Dialect,
    limits: ParseLimits,
    dictionaries: Dictionaries,
    reference: ReferencePage,
  ) {
    this.page = page;
    this.cursor = cursor;
    this.dialect = dialect;
    this.limits = limits;
    this.dictionaries = dictionaries;
    this.reference = reference;
    this.reader = new SampleReader(cursor, dictionaries, page.fresh, dialect, limits);
    this.firstNewSet = dictionaries.labelSets.sets.length;
  }

  /** A row was recognized. */
  goOnBehind(row: number): void {
    this.next = row + 1;
    this.replaced = 0;
  }

  /** Reads the line at `at`; returns where the next one starts, as `readLine`. */
  read(at: number, keyStart: number): number {
    const { page, cursor, dialect, dictionaries, limits } = this;
    const { fresh } = page;
    const before = fresh.count;
    this.reader.maxRows = limits.maxSamples - (page.count - before);
    const end = readLine(cursor, this.reader, fresh, dialect, dictionaries, at);
    page.takeFresh(keyStart);
    this.lastWasRow = fresh.count > before;
    if (this.lastWasRow) this.findAgain(before);
    return end;
  }

  /** Where to go on after a row that was not expected: behind it in the earlier page, if it is there. */
  private findAgain(i: number): void {
    const { fresh } = this.page;
    const setId = fresh.labelSetIds[i] as number;
    const found =
      setId >= this.firstNewSet
        ? -1
        : this.reference.search(this.next, fresh.nameIds[i] as number, setId, fresh.boundIds[i] as number);
    if (found >= 0) this.goOnBehind(found);
    else this.replaced++;
  }
}
