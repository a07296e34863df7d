import type { Percentile } from './percentile.ts';

/** The percentiles of a span of time. */
export interface PercentilePoint {
  /** Exclusive start of the observations; for rates the previous step. */
  startMs: number;
  endMs: number;
  /** Number of observations; null where only rates are known. */
  n: number | null;
  /** Counters were reset within the span. */
  reset: boolean;
  percentiles: Percentile[];
  /** Row of the source at which the span ends, and, for raw counters, the one at which it begins. */
  row: number;
  fromRow: number;
}

/** One percentile at all points. Entries from the number of points on mean nothing. */
export interface PercentileColumn {
  /** 0 to 1. */
  readonly quantile: number;
  /** As in `Percentile`. */
  readonly estimate: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** `OVERFLOW`, `NARROWED` and `INFEASIBLE_SUM`, added up. */
  readonly flags: Uint8Array;
}

/** What is true of one percentile at one point; see `Percentile`. */
export const OVERFLOW = 1;
export const NARROWED = 2;
export const INFEASIBLE_SUM = 4;

export type PointSpan = Omit<PercentilePoint, 'percentiles'>;

/**
 * The points of a series in order of time, kept as columns: ten thousands of points as objects would take longer to be
 * made and collected than to be computed.
 */
export class PercentilePoints {
  readonly startMs: Float64Array;
  readonly endMs: Float64Array;
  readonly columns: readonly PercentileColumn[];
  private readonly counts: Float64Array;
  private readonly resets: Uint8Array;
  private readonly rows: Int32Array;
  private readonly fromRows: Int32Array;
  private used = 0;

  constructor(most: number, quantiles: readonly number[]) {
    const numbers = () => new Float64Array(most);
    this.startMs = numbers();
    this.endMs = numbers();
    this.counts = numbers();
    this.resets = new Uint8Array(most);
    this.rows = new Int32Array(most);
    this.fromRows = new Int32Array(most);
    this.columns = quantiles.map((quantile) => {
      return { quantile, estimate: numbers(), low: numbers(), high: numbers(), flags: new Uint8Array(most) };
    });
  }

  get length(): number {
    return this.used;
  }

  /** Appends the point whose percentiles are in the columns at `length`. */
  take(startMs: number, endMs: number, n: number | null, reset: boolean, row: number, fromRow: number): void {
    const i = this.used++;
    this.startMs[i] = startMs;
    this.endMs[i] = endMs;
    this.counts[i] = n ?? NaN;
    this.resets[i] = reset ? 1 : 0;
    this.rows[i] = row;
    this.fromRows[i] = fromRow;
  }

  /** A point as an object; undefined beyond the last. Negative positions count from the end. */
  at(position: number): PercentilePoint | undefined {
    const i = position < 0 ? this.used + position : position;
    if (!(i >= 0 && i < this.used)) {
      return undefined;
    }
    const n = this.counts[i] ?? NaN;
    return {
      startMs: this.startMs[i] ?? NaN,
      endMs: this.endMs[i] ?? NaN,
      n: Number.isNaN(n) ? null : n,
      reset: this.resets[i] === 1,
      row: this.rows[i] ?? NaN,
      fromRow: this.fromRows[i] ?? NaN,
      percentiles: this.columns.map(({ quantile, estimate, low, high, flags }) => {
        const flag = flags[i] ?? 0;
        return {
          quantile,
          estimate: estimate[i] ?? NaN,
          low: low[i] ?? NaN,
          high: high[i] ?? NaN,
          overflow: (flag & OVERFLOW) !== 0,
          narrowed: (flag & NARROWED) !== 0,
          infeasibleSum: (flag & INFEASIBLE_SUM) !== 0,
        };
      }),
    };
  }

  /** In how many points at least one percentile has the flag. */
  countWith(flag: number): number {
    let found = 0;
    for (let i = 0; i < this.used; i++) {
      found += this.columns.some(({ flags }) => ((flags[i] ?? 0) & flag) !== 0) ? 1 : 0;
    }
    return found;
  }

  *[Symbol.iterator](): Generator<PercentilePoint> {
    for (let i = 0; i < this.used; i++) {
      const point = this.at(i);
      if (point) {
        yield point;
      }
    }
  }
}
