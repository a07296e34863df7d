import { equalBytes } from './equal-bytes.ts';
import type { MetadataLine } from './page-rows.ts';
import type { Page } from './read-page.ts';

/** How many rows ahead a row that came unexpectedly is looked for. */
const SEARCH_ROWS = 512;

/**
 * What a parser remembers of a target's page: its bytes and where its rows are. A row's key is the text from the end of
 * the row before to its own value, so that metadata and blank lines between rows are part of it.
 */
export class ReferencePage {
  readonly count: number;
  readonly nameIds: Int32Array;
  readonly labelSetIds: Int32Array;
  readonly boundIds: Int32Array;
  readonly metadata: readonly MetadataLine[];
  private readonly view: DataView;
  private readonly keyStarts: Int32Array;
  private readonly lineStarts: Int32Array;
  /** 0: an irregular line, which is never recognised. */
  private readonly valueStarts: Int32Array;
  private readonly lastLineEnd: number;

  /** Copies what it keeps; the rows are those of the page as it was read, duplicates included. */
  constructor({ cursor, rows }: Page) {
    // Not slice(): on a Node Buffer that would be a view of the caller's memory.
    const bytes = new Uint8Array(cursor.bytes);
    const { count } = rows;
    this.view = new DataView(bytes.buffer);
    this.count = count;
    this.nameIds = rows.nameIds.slice(0, count);
    this.labelSetIds = rows.labelSetIds.slice(0, count);
    this.boundIds = rows.boundIds.slice(0, count);
    this.lineStarts = rows.lineStarts.slice(0, count);
    this.valueStarts = rows.valueStarts.slice(0, count);
    this.metadata = [...rows.metadata];
    this.keyStarts = new Int32Array(count);
    let end = 0;
    for (let row = 0; row < count; row++) {
      this.keyStarts[row] = end;
      end = rows.lineEnds[row] as number;
    }
    this.lastLineEnd = end;
  }

  /** Where the value stands if the page has the row's key at `at`; else 0. */
  matchKey(row: number, view: DataView, at: number): number {
    const start = this.keyStarts[row] as number;
    const length = (this.valueStarts[row] as number) - start;
    if (length <= 0 || at + length >= view.byteLength) return 0;
    return equalBytes(view, at, this.view, start, length) ? at + length : 0;
  }

  /** Bytes from the start of the row's own line to its value. */
  identityLength(row: number): number {
    return (this.valueStarts[row] as number) - (this.lineStarts[row] as number);
  }

  /** Whether the row's key holds the lines between it and the row before, and what those say counts with it. */
  keyHasGap(row: number): boolean {
    return this.keyStarts[row] !== this.lineStarts[row];
  }

  /** Whether the page ends after `at` as this one after its last row. */
  matchEnd(view: DataView, at: number): boolean {
    const length = this.view.byteLength - this.lastLineEnd;
    return view.byteLength - at === length && equalBytes(view, at, this.view, this.lastLineEnd, length);
  }

  /** The row of these ids among the next ones from `from`, or −1. */
  search(from: number, nameId: number, labelSetId: number, boundId: number): number {
    const end = Math.min(this.count, from + SEARCH_ROWS);
    for (let row = from; row < end; row++) {
      if (this.labelSetIds[row] === labelSetId && this.boundIds[row] === boundId && this.nameIds[row] === nameId)
        return row;
    }
    return -1;
  }
}
