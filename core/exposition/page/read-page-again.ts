import type { Dialect } from './dialect.ts';
import type { Dictionaries } from './dictionaries.ts';
import type { MetadataLine, PageRows } from './page-rows.ts';
import type { ParseLimits } from '../parse-options.ts';
import { newRows, openPage, readLine, requireEndMark } from './read-page.ts';
import type { Page } from './read-page.ts';
import type { ReferencePage } from './reference-page.ts';
import { SampleReader } from './sample-reader.ts';

/**
 * Reads a page with the help of an earlier one of the same target: where the bytes are the expected ones only the value
 * is read, other lines are read as always. `same`: the pages differ only behind the names and labels.
 */
export function readPageAgain(
  bytes: Uint8Array,
  dialect: Dialect,
  limits: ParseLimits,
  dictionaries: Dictionaries,
  reference: ReferencePage,
): { page: Page; same: boolean } {
  const { cursor, missingFinalNewline } = openPage(bytes, limits);
  const rows = newRows(bytes, limits);
  const reader = new SampleReader(cursor, dictionaries, rows, dialect, limits);
  const view = new DataView(cursor.bytes.buffer, cursor.bytes.byteOffset, cursor.bytes.byteLength);
  const metadata = new MetadataReplay(reference.metadata, rows);
  const { nameIds, labelSetIds, boundIds } = reference;
  let at = 0;
  let next = 0;
  let same = true;
  while (at >= 0 && at < cursor.end) {
    const valueStart = next < reference.count ? reference.matchKey(next, view, at) : 0;
    if (valueStart > 0) {
      if (reference.keyHasGap(next)) metadata.replay(next);
      at = reader.readKnown(
        valueStart - reference.identityLength(next),
        valueStart,
        nameIds[next] as number,
        labelSetIds[next] as number,
        boundIds[next] as number,
      );
      next++;
    } else if (next === reference.count && reference.matchEnd(view, at)) {
      metadata.replay(next);
      at = -1;
    } else {
      same = false;
      const row = rows.count;
      at = readLine(cursor, reader, rows, dialect, dictionaries, at);
      if (rows.count > row) next = rowAfter(reference, next, rows, row);
    }
  }
  if (next < reference.count) same = false;
  requireEndMark(cursor, dialect, at);
  return { page: { cursor, dialect, dictionaries, rows, missingFinalNewline }, same };
}

/** Where to go on after a row that was not expected: behind it in the earlier page, if it is there. */
function rowAfter(reference: ReferencePage, next: number, rows: PageRows, row: number): number {
  const found = reference.search(
    next,
    rows.nameIds[row] as number,
    rows.labelSetIds[row] as number,
    rows.boundIds[row] as number,
  );
  return found < 0 ? next : found + 1;
}

/** Hands the metadata of recognised lines on to the new rows. */
class MetadataReplay {
  private readonly lines: readonly MetadataLine[];
  private readonly rows: PageRows;
  private position = 0;

  constructor(lines: readonly MetadataLine[], rows: PageRows) {
    this.lines = lines;
    this.rows = rows;
  }

  /** The lines directly before a row of the earlier page; rows are asked for in ascending order. */
  replay(row: number): void {
    for (let line = this.lines[this.position]; line !== undefined && line.row <= row;) {
      if (line.row === row) this.rows.metadata.push({ ...line, row: this.rows.count });
      line = this.lines[++this.position];
    }
  }
}
