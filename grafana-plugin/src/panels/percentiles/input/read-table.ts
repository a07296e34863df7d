import { FieldType, type DataFrame, type Field, type Labels } from '@grafana/data';
import { parseBound } from '../../../../../core/histogram/classic-histogram.ts';
import { areWhole, takesRates, decreases } from './histogram-rows.ts';
import type { HistogramSeries } from './histogram-series.ts';
import { noOverflowBucket, tableOverTime, unlikeBounds, type InputProblem } from './input-problem.ts';

/** True when the frame is a table with a text column `le`: an instant query in the format "Table". */
export function isBucketTable(frame: DataFrame): boolean {
  return frame.fields.some((field) => field.name === 'le' && field.type === FieldType.string);
}

/** Reads an instant table: one histogram for the whole range per set of the other text columns. */
export function readTable(frame: DataFrame, expression: string | undefined): Array<HistogramSeries | InputProblem> {
  const refId = frame.refId ?? '';
  const le = frame.fields.find((field) => field.name === 'le');
  const value = frame.fields.find((field) => field.type === FieldType.number);
  const time = frame.fields.find((field) => field.type === FieldType.time);
  if (!le || !value) {
    return [];
  }
  const texts = frame.fields.filter((field) => field !== le && field.type === FieldType.string);
  return [...rowsByLabels(frame, texts)].map(([key, rows]) => {
    const buckets = rows
      .map((row) => ({ bound: parseBound(String(le.values[row])) ?? NaN, count: Number(value.values[row]) }))
      .filter(({ bound, count }) => !Number.isNaN(bound) && Number.isFinite(count))
      .sort((a, b) => a.bound - b.bound);
    const bounds = buckets.map(({ bound }) => bound);
    if (new Set(bounds).size !== bounds.length) {
      return tableOverTime(refId);
    }
    if (bounds.at(-1) !== Infinity) {
      return noOverflowBucket(refId);
    }
    const counts = Float64Array.from(buckets, ({ count }) => count);
    if (decreases(counts, bounds.length)) {
      return unlikeBounds(refId);
    }
    const { __name__: name, ...labels } = JSON.parse(key) as Labels;
    return {
      refId,
      metric: name ? name.replace(/_bucket$/, '') : null,
      labels,
      kind: 'total',
      trueCounts: expression !== undefined && !takesRates(expression) && areWhole(counts),
      exponential: false,
      bounds,
      stepMs: 0,
      times: [lastTime(time, rows)],
      counts,
      sums: null,
      gridChangedMs: null,
      field: value,
    };
  });
}

function rowsByLabels(frame: DataFrame, texts: readonly Field[]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (let row = 0; row < frame.length; row++) {
    const labels = texts.map((field) => [field.name, String(field.values[row] ?? '')]);
    const key = JSON.stringify(Object.fromEntries(labels));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}

function lastTime(time: Field<number> | undefined, rows: readonly number[]): number {
  return Math.max(...rows.map((row) => time?.values[row] ?? 0));
}
