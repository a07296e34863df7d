import type { BucketColumn, BucketGroup } from './bucket-columns.ts';
import type { HistogramSample } from './histogram-series.ts';

/** The samples that share one set of bounds. */
export interface HistogramRows {
  bounds: number[];
  samples: HistogramSample[];
}

/**
 * Turns a group's columns (one per bucket) into rows (one histogram per time), cumulative over the bounds. Where the set
 * of bounds changes in the range, each set becomes rows of its own: only like grids may be compared or added.
 */
export function histogramRows(group: BucketGroup): HistogramRows[] {
  const { times, columns } = align(group.columns);
  const byGrid = new Map<string, HistogramRows>();
  for (let row = 0; row < times.length; row++) {
    const present: number[] = [];
    columns.forEach(({ values }, column) => {
      if (Number.isFinite(values[row] ?? NaN)) {
        present.push(column);
      }
    });
    if (present.length === 0) {
      continue;
    }
    const grid = present.join();
    let rows = byGrid.get(grid);
    if (!rows) {
      rows = { bounds: present.map((column) => columns[column]?.bound ?? NaN), samples: [] };
      byGrid.set(grid, rows);
    }
    const counts = present.map((column) => columns[column]?.values[row] ?? 0);
    rows.samples.push({ timeMs: times[row] ?? NaN, counts: group.perBucket ? cumulate(counts) : counts });
  }
  return [...byGrid.values()];
}

/** Puts all columns on the same times. Prometheus mostly delivers them so; where it does not, the union is taken. */
function align(columns: readonly BucketColumn[]): { times: readonly number[]; columns: readonly BucketColumn[] } {
  const times = columns[0]?.times ?? [];
  const bounds = columns.map(({ bound }) => bound);
  if (columns.every((column) => sameTimes(column.times, times)) && new Set(bounds).size === bounds.length) {
    return { times, columns };
  }
  const union = [...new Set(columns.flatMap((column) => [...column.times]))].sort((a, b) => a - b);
  const position = new Map(union.map((time, i) => [time, i]));
  const joined = new Map<number, Array<number | null>>();
  for (const column of columns) {
    const values = joined.get(column.bound) ?? new Array<number | null>(union.length).fill(null);
    joined.set(column.bound, values);
    column.times.forEach((time, i) => {
      const row = position.get(time) ?? 0;
      const value = column.values[i] ?? null;
      // As in Prometheus, counts of the same bound written in two ways ("1" and "1.0") are added.
      values[row] = value === null ? (values[row] ?? null) : (values[row] ?? 0) + value;
    });
  }
  return { times: union, columns: [...joined].map(([bound, values]) => ({ bound, times: union, values })) };
}

function sameTimes(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((time, i) => time === b[i]));
}

function cumulate(counts: readonly number[]): number[] {
  let total = 0;
  // Subtracting neighbours of floating numbers, as the data source does, can leave a tiny negative bucket.
  return counts.map((count) => (total += Math.max(0, count)));
}
