import type { Exemplar } from '../exposition.ts';

/** A HELP, TYPE or UNIT line. */
export interface MetadataLine {
  readonly keyword: 'HELP' | 'TYPE' | 'UNIT';
  readonly name: string;
  readonly text: string;
  /** Where the line starts, and how many samples stood before it. */
  readonly offset: number;
  readonly row: number;
}

/** The rows of a page while it is being read: growing columns. */
export class PageRows {
  count = 0;
  nameIds: Int32Array;
  labelSetIds: Int32Array;
  boundIds: Int32Array;
  values: Float64Array;
  /** Offset of the row's line. */
  lineStarts: Int32Array;
  timestampsSeconds: Float64Array | null = null;
  readonly exemplars = new Map<number, Exemplar>();
  readonly metadata: MetadataLine[] = [];

  constructor(capacity: number) {
    this.nameIds = new Int32Array(capacity);
    this.labelSetIds = new Int32Array(capacity);
    this.boundIds = new Int32Array(capacity);
    this.values = new Float64Array(capacity);
    this.lineStarts = new Int32Array(capacity);
  }

  push(nameId: number, labelSetId: number, boundId: number, value: number, lineStart: number): number {
    const row = this.count;
    if (row === this.values.length) this.grow();
    this.nameIds[row] = nameId;
    this.labelSetIds[row] = labelSetId;
    this.boundIds[row] = boundId;
    this.values[row] = value;
    this.lineStarts[row] = lineStart;
    this.count = row + 1;
    return row;
  }

  setTimestamp(row: number, seconds: number): void {
    this.timestampsSeconds ??= new Float64Array(this.values.length).fill(NaN);
    this.timestampsSeconds[row] = seconds;
  }

  private grow(): void {
    const capacity = Math.max(64, this.values.length * 2);
    const integers = (old: Int32Array): Int32Array => {
      const bigger = new Int32Array(capacity);
      bigger.set(old);
      return bigger;
    };
    this.nameIds = integers(this.nameIds);
    this.labelSetIds = integers(this.labelSetIds);
    this.boundIds = integers(this.boundIds);
    this.lineStarts = integers(this.lineStarts);
    const values = new Float64Array(capacity);
    values.set(this.values);
    this.values = values;
    if (this.timestampsSeconds !== null) {
      const timestamps = new Float64Array(capacity).fill(NaN);
      timestamps.set(this.timestampsSeconds);
      this.timestampsSeconds = timestamps;
    }
  }
}
