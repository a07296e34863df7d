import type { Exemplar } from '../exposition.ts';
import { PageRows } from './page-rows.ts';
import type { MetadataLine } from './page-rows.ts';
import type { ReferencePage, Run } from './reference-page.ts';

/**
 * A page that is read beside an earlier one of the same target: the rows that came again, in runs, and between them the
 * fresh ones, which were read as always.
 */
export class RepeatedPage {
  /** The page's bytes, which end with a line feed. */
  readonly bytes: Uint8Array;
  readonly missingFinalNewline: boolean;
  readonly fresh = new PageRows(16);
  /** The page's rows that are fresh, ascending, and where their keys start. */
  readonly freshRows: number[] = [];
  readonly freshKeyStarts: number[] = [];
  /** In order; whole when the page has been read. */
  readonly runs: Run[] = [];
  /** Empty when the page is the earlier one with other values. */
  readonly metadata: MetadataLine[] = [];
  readonly exemplars = new Map<number, Exemplar>();
  timestampsSeconds: Float64Array | null = null;
  count = 0;
  /** Where what comes after the last row begins, when it is not as in the earlier page; else null. */
  tailStart: number | null = null;
  private readonly reference: ReferencePage;
  private values: Float64Array;
  /** Only where they will be needed: to say where duplicates stand. */
  private lineStarts: Int32Array | null;
  private runFrom = 0;
  private runAt = 0;
  /** The last run, as long as its metadata may not be needed. */
  private pending: Run | null = null;
  private anyFresh = false;

  constructor(bytes: Uint8Array, missingFinalNewline: boolean, reference: ReferencePage, withLines: boolean) {
    this.bytes = bytes;
    this.missingFinalNewline = missingFinalNewline;
    this.reference = reference;
    this.values = new Float64Array(reference.count);
    this.lineStarts = withLines ? new Int32Array(reference.count) : null;
  }

  /** The page is the earlier one but for what stands behind its keys. */
  get same(): boolean {
    const { runs, reference } = this;
    const rowsAre = runs.length === 0 ? reference.count === 0 : runs[0]?.from === 0 && runs[0].to === reference.count;
    return rowsAre && runs.length <= 1 && !this.anyFresh && this.tailStart === null;
  }

  /** Takes over a row of the earlier page. */
  pushKnown(row: number, value: number): void {
    const { count } = this;
    if (row - this.runFrom !== count - this.runAt) {
      this.closeRun();
      this.runFrom = row;
      this.runAt = count;
    }
    if (count === this.values.length) this.grow();
    this.values[count] = value;
    this.count = count + 1;
  }

  /** Where the line of the last row starts. */
  setLineStart(lineStart: number): void {
    if (this.lineStarts !== null) this.lineStarts[this.count - 1] = lineStart;
  }

  setTail(timestampSeconds: number | null, exemplar: Exemplar | null): void {
    const row = this.count - 1;
    if (timestampSeconds !== null) {
      this.timestampsSeconds ??= new Float64Array(this.values.length).fill(NaN);
      this.timestampsSeconds[row] = timestampSeconds;
    }
    if (exemplar !== null) this.exemplars.set(row, exemplar);
  }

  /** Takes over what a line that was read into `fresh` brought there: metadata, a row, or nothing. */
  takeFresh(keyStart: number): void {
    this.closeRun();
    this.replayPending();
    this.anyFresh = true;
    const { fresh } = this;
    if (fresh.metadata.length > 0) {
      for (const line of fresh.metadata.splice(0)) this.metadata.push({ ...line, row: this.count });
    }
    if (fresh.count > this.freshRows.length) {
      const i = fresh.count - 1;
      this.freshRows.push(this.count);
      this.freshKeyStarts.push(keyStart);
      if (this.count === this.values.length) this.grow();
      this.values[this.count] = fresh.values[i] as number;
      if (this.lineStarts !== null) this.lineStarts[this.count] = fresh.lineStarts[i] as number;
      this.count++;
      const time = fresh.timestampsSeconds?.[i] ?? NaN;
      this.setTail(Number.isNaN(time) ? null : time, fresh.exemplars.get(i) ?? null);
    }
    this.runFrom = this.reference.count;
    this.runAt = this.count;
  }

  /** The page has been read: its end is that of the earlier page, or begins at `tailStart`. */
  finish(tailStart: number | null): void {
    this.closeRun();
    this.tailStart = tailStart;
    if (this.same) return;
    this.replayPending();
    if (tailStart === null) this.replay(this.reference.count, Infinity, this.count);
  }

  /** Values of all rows. */
  allValues(): Float64Array {
    return exact(this.values, this.count);
  }

  /** All rows as if they had been read one by one. */
  allRows(): PageRows {
    const { count, fresh, reference } = this;
    const rows = new PageRows(0);
    rows.count = count;
    rows.values = this.allValues();
    if (this.lineStarts !== null) rows.lineStarts = exact(this.lineStarts, count);
    const { nameIds, labelSetIds, boundIds } = reference.columns;
    rows.nameIds = this.column(nameIds, fresh.nameIds);
    rows.labelSetIds = this.column(labelSetIds, fresh.labelSetIds);
    rows.boundIds = this.column(boundIds, fresh.boundIds);
    rows.timestampsSeconds = this.timestampsSeconds === null ? null : exact(this.timestampsSeconds, count);
    for (const [row, exemplar] of this.exemplars) rows.exemplars.set(row, exemplar);
    for (const line of this.same ? reference.metadata : this.metadata) rows.metadata.push(line);
    return rows;
  }

  /** Fresh rows stand where as many others stood: all others are where they were. */
  get inPlace(): boolean {
    return this.count === this.reference.count && this.runs.every(({ from, at }) => from === at);
  }

  /** A column of ids: that of the earlier page when nothing in it changed. */
  private column(earlier: Int32Array, ofFresh: Int32Array): Int32Array {
    const { count, freshRows, runs } = this;
    const inPlace = this.inPlace;
    if (inPlace && freshRows.every((row, i) => earlier[row] === ofFresh[i])) return earlier;
    const column = inPlace ? earlier.slice() : new Int32Array(count);
    if (!inPlace) for (const { from, to, at } of runs) column.set(earlier.subarray(from, to), at);
    for (let i = 0; i < freshRows.length; i++) column[freshRows[i] as number] = ofFresh[i] as number;
    return column;
  }

  private closeRun(): void {
    const { runFrom, runAt, count } = this;
    if (count === runAt) return;
    this.replayPending();
    this.pending = { from: runFrom, to: runFrom + count - runAt, at: runAt };
    this.runs.push(this.pending);
    this.runAt = count;
    this.runFrom = this.pending.to;
  }

  private replayPending(): void {
    if (this.pending !== null) this.replay(this.pending.from, this.pending.to, this.pending.at);
    this.pending = null;
  }

  /** Hands on the metadata that stands before rows of the earlier page. */
  private replay(from: number, to: number, at: number): void {
    const lines = this.reference.metadata;
    for (let i = firstOfRow(lines, from); i < lines.length; i++) {
      const line = lines[i] as MetadataLine;
      if (line.row >= to) return;
      this.metadata.push({ ...line, row: line.row - from + at });
    }
  }

  private grow(): void {
    const capacity = Math.max(64, this.values.length * 2);
    const values = new Float64Array(capacity);
    values.set(this.values);
    this.values = values;
    if (this.lineStarts !== null) {
      const lineStarts = new Int32Array(capacity);
      lineStarts.set(this.lineStarts);
      this.lineStarts = lineStarts;
    }
    if (this.timestampsSeconds !== null) {
      const timestamps = new Float64Array(capacity).fill(NaN);
      timestamps.set(this.timestampsSeconds);
      this.timestampsSeconds = timestamps;
    }
  }
}

function exact<T extends Float64Array | Int32Array>(array: T, count: number): T {
  return array.length === count ? array : (array.slice(0, count) as T);
}

/** The first line that stands before that row or a later one. */
function firstOfRow(lines: readonly MetadataLine[], row: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle] as MetadataLine).row < row) low = middle + 1;
    else high = middle;
  }
  return low;
}
