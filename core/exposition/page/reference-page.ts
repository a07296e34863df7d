import { copyBytes } from './byte-interner.ts';
import { equalBytes } from './equal-bytes.ts';
import type { MetadataLine, PageRows } from './page-rows.ts';
import type { Page } from './read-page.ts';

/** How many rows ahead a row that came unexpectedly is looked for. */
const SEARCH_ROWS = 512;
/** Free space for the keys of new lines, as a fraction of the used space. */
const ROOM = 0.25;
/** The value that stood between two keys is moved with them. */
const MAX_GAP = 32;

/** The keys of rows: bytes held elsewhere, so that rows that stay keep theirs when others come and go. */
interface Keys {
  readonly starts: Int32Array;
  /** 0: an irregular line, which is never recognized. */
  readonly lengths: Int32Array;
  /** Bytes from the start of the row's own line to its value. */
  readonly identityLengths: Int32Array;
}

interface Columns {
  readonly nameIds: Int32Array;
  readonly labelSetIds: Int32Array;
  readonly boundIds: Int32Array;
}

/** Rows [from, to) of the earlier page that came again, one after the other, from row `at` on. */
export interface Run {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

/** What is needed of a page that was read beside its reference to become the next reference; see `RepeatedPage`. */
interface NextPage {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly inPlace: boolean;
  readonly runs: readonly Run[];
  readonly fresh: PageRows;
  readonly freshRows: readonly number[];
  readonly freshKeyStarts: readonly number[];
  readonly metadata: readonly MetadataLine[];
  readonly tailStart: number | null;
}

/**
 * What a parser remembers of a target's page: how its rows begin. A row's key is the text from the end of the row before to
 * its own value, so that metadata and blank lines between rows are part of it.
 */
export class ReferencePage {
  readonly count: number;
  readonly columns: Columns;
  readonly metadata: readonly MetadataLine[];
  private readonly keys: Keys;
  private readonly tailStart: number;
  private readonly tailLength: number;
  private readonly store: KeyStore;
  private readonly view: DataView;

  private constructor(
    columns: Columns,
    metadata: readonly MetadataLine[],
    keys: Keys,
    tail: { readonly start: number; readonly length: number },
    store: KeyStore,
  ) {
    this.count = columns.nameIds.length;
    this.columns = columns;
    this.metadata = metadata;
    this.keys = keys;
    this.tailStart = tail.start;
    this.tailLength = tail.length;
    this.store = store;
    this.view = store.view;
  }

  /** Copies what it keeps; the rows are those of the page as it was read, duplicates included. */
  static of({ cursor, rows }: Page): ReferencePage {
    const { count } = rows;
    const keys = newKeys(count);
    let end = 0;
    for (let row = 0; row < count; row++) {
      const valueStart = rows.valueStarts[row] as number;
      if (valueStart > 0) {
        keys.starts[row] = end;
        keys.lengths[row] = valueStart - end;
        keys.identityLengths[row] = valueStart - (rows.lineStarts[row] as number);
      }
      end = rows.lineEnds[row] as number;
    }
    const columns = {
      nameIds: rows.nameIds.slice(0, count),
      labelSetIds: rows.labelSetIds.slice(0, count),
      boundIds: rows.boundIds.slice(0, count),
    };
    const tail = { start: end, length: cursor.end - end };
    return new ReferencePage(columns, [...rows.metadata], keys, tail, new KeyStore(cursor.bytes));
  }

  /**
   * What to remember after a page of which most rows were recognized: only the keys of the others are copied. This one
   * must not be used any more: the new one may have its memory.
   */
  after(page: NextPage, columns: Columns): ReferencePage {
    const { bytes, runs, fresh, freshRows, freshKeyStarts, tailStart } = page;
    const inPlace = page.inPlace;
    const keys = inPlace ? this.keys : newKeys(page.count);
    for (const { from, to, at } of inPlace ? [] : runs) {
      keys.starts.set(this.keys.starts.subarray(from, to), at);
      keys.lengths.set(this.keys.lengths.subarray(from, to), at);
      keys.identityLengths.set(this.keys.identityLengths.subarray(from, to), at);
    }
    const tail = { start: this.tailStart, length: this.tailLength };
    let needed = tailStart === null ? 0 : bytes.length - tailStart;
    const longer: number[] = [];
    for (let i = 0; i < freshRows.length; i++) {
      const row = freshRows[i] as number;
      const keyStart = freshKeyStarts[i] as number;
      const length = Math.max(0, (fresh.valueStarts[i] as number) - keyStart);
      keys.identityLengths[row] = (fresh.valueStarts[i] as number) - (fresh.lineStarts[i] as number);
      // In the place of the key that the row had before, if it fits: the keys stay in the order of the page.
      if (length <= (keys.lengths[row] as number)) {
        this.store.replace(keys.starts[row] as number, bytes, keyStart, keyStart + length);
        keys.lengths[row] = length;
      } else {
        keys.lengths[row] = 0;
        needed += length;
        longer.push(i);
      }
    }
    const store = this.store.withRoom(needed, keys, tail);
    for (const i of longer) {
      const row = freshRows[i] as number;
      const keyStart = freshKeyStarts[i] as number;
      const valueStart = fresh.valueStarts[i] as number;
      keys.starts[row] = store.add(bytes, keyStart, valueStart);
      keys.lengths[row] = valueStart - keyStart;
    }
    if (tailStart !== null) {
      tail.start = store.add(bytes, tailStart, bytes.length);
      tail.length = bytes.length - tailStart;
    }
    return new ReferencePage(columns, page.metadata, keys, tail, store);
  }

  /** Where the value stands if the page, which ends at `end`, has the row's key at `at`; else 0. */
  matchKey(row: number, view: DataView, at: number, end: number): number {
    if (row >= this.count) return 0;
    const length = this.keys.lengths[row] as number;
    if (length === 0 || at + length >= end) return 0;
    return equalBytes(view, at, this.view, this.keys.starts[row] as number, length) ? at + length : 0;
  }

  identityLength(row: number): number {
    return this.keys.identityLengths[row] as number;
  }

  /** Whether the page ends after `at` as this one after its last row. */
  matchEnd(view: DataView, at: number): boolean {
    const length = this.tailLength;
    return view.byteLength - at === length && equalBytes(view, at, this.view, this.tailStart, length);
  }

  /** The row of these ids among the next ones from `from`, or −1. */
  search(from: number, nameId: number, labelSetId: number, boundId: number): number {
    const { nameIds, labelSetIds, boundIds } = this.columns;
    const end = Math.min(this.count, from + SEARCH_ROWS);
    for (let row = from; row < end; row++) {
      if (labelSetIds[row] === labelSetId && boundIds[row] === boundId && nameIds[row] === nameId) return row;
    }
    return -1;
  }
}

function newKeys(count: number): Keys {
  return {
    starts: new Int32Array(count),
    lengths: new Int32Array(count),
    identityLengths: new Int32Array(count),
  };
}

/** Bytes of keys, one after the other; what no key refers to any more is left behind when the room is used up. */
class KeyStore {
  readonly view: DataView;
  private readonly bytes: Uint8Array<ArrayBuffer>;
  private used: number;

  constructor(bytes: Uint8Array, room = Math.ceil(bytes.length * ROOM)) {
    this.bytes = new Uint8Array(bytes.length + room);
    this.bytes.set(bytes);
    this.used = bytes.length;
    this.view = new DataView(this.bytes.buffer);
  }

  /** This store, or a new one to which the keys and the tail are moved (and reported their new places). */
  withRoom(needed: number, keys: Keys, tail: { start: number; readonly length: number }): KeyStore {
    if (this.used + needed <= this.bytes.length) return this;
    const pieces = this.heldPieces(keys);
    const held = pieces.reduce((sum, { start, end }) => sum + end - start, tail.length);
    const moved = new KeyStore(new Uint8Array(0), held + needed + Math.ceil((held + needed) * ROOM));
    for (const { start, end, from, to } of pieces) {
      const shift = moved.add(this.bytes, start, end) - start;
      for (let row = from; row < to; row++) keys.starts[row] = (keys.starts[row] as number) + shift;
    }
    tail.start = moved.add(this.bytes, tail.start, tail.start + tail.length);
    return moved;
  }

  /** Stretches that hold the keys of rows [from, to): what lies between two keys is kept while it is little. */
  private heldPieces({ starts, lengths }: Keys): { start: number; end: number; from: number; to: number }[] {
    const pieces: { start: number; end: number; from: number; to: number }[] = [];
    let last: (typeof pieces)[number] | undefined;
    for (let row = 0; row < starts.length; row++) {
      const length = lengths[row] as number;
      if (length === 0) continue;
      const start = starts[row] as number;
      const near = last !== undefined && start >= last.end && start - last.end <= MAX_GAP;
      if (near && last !== undefined) {
        last.end = start + length;
        last.to = row + 1;
      } else pieces.push((last = { start, end: start + length, from: row, to: row + 1 }));
    }
    return pieces;
  }

  /** Writes bytes of a page over those at `at`, of which as many are held. */
  replace(at: number, page: Uint8Array, start: number, end: number): void {
    copyBytes(page, start, end, this.bytes, at);
  }

  /** Copies bytes of a page; returns where they are held. */
  add(page: Uint8Array, start: number, end: number): number {
    const at = this.used;
    copyBytes(page, start, end, this.bytes, at);
    this.used = at + end - start;
    return at;
  }
}
