import { type DataFrame, type Field, FieldType, type Labels } from '@grafana/data';
import { stepOf } from './histogram-rows.ts';

/** A percentile computed by the query, drawn over those of the histograms. */
export interface GivenLine {
  refId: string;
  metric: string | null;
  labels: Labels;
  /** 0 to 1; null without a `quantile` or `stat` label. */
  quantile: number | null;
  /** llmbench computed it from every single value (`llmbench_result_…`). */
  exact: boolean;
  stepMs: number;
  /** Milliseconds, ascending; one time = it holds for the whole range. */
  times: readonly number[];
  values: ReadonlyArray<number | null>;
  /** The legend's text as the query gives it; empty without one. */
  legend: string;
  field: Field;
}

const RESULT = /^llmbench_result_/;

/** The lines of a frame whose fields have no `le`: time series, or a table with one row per line. */
export function givenLines(frame: DataFrame): GivenLine[] {
  const time = frame.fields.find(({ type }) => type === FieldType.time);
  const texts = frame.fields.filter(({ type }) => type === FieldType.string);
  const numbers = frame.fields.filter(({ type }) => type === FieldType.number);
  if (!time) {
    return [];
  }
  if (texts.length === 0) {
    return numbers.map((field) =>
      line(frame, field, { labels: field.labels ?? {}, times: time.values, values: field.values })
    );
  }
  return numbers.flatMap((field) =>
    Array.from({ length: frame.length }, (_, row) => {
      const labels = Object.fromEntries(texts.map(({ name, values }) => [name, String(values[row] ?? '')]));
      return line(frame, field, { labels, times: [time.values[row]], values: [field.values[row]] });
    })
  );
}

function line(
  frame: DataFrame,
  field: Field,
  { labels: all, times, values }: { labels: Labels; times: number[]; values: Array<number | null> }
): GivenLine {
  const { __name__: name, ...labels } = all;
  const time = frame.fields.find(({ type }) => type === FieldType.time);
  return {
    refId: frame.refId ?? '',
    metric: name ?? null,
    labels,
    quantile: quantileOf(labels),
    exact: RESULT.test(name ?? ''),
    stepMs: time && times.length > 1 ? stepOf(time) : 0,
    times,
    values,
    legend: field.config.displayName ?? field.config.displayNameFromDS ?? '',
    field,
  };
}

/** From a summary's label `quantile="0.99"` or from llmbench's `stat="p99_9"`. */
function quantileOf({ quantile, stat }: Labels): number | null {
  const [, whole, fraction] = /^p(\d+)(?:[_.](\d+))?$/.exec(stat ?? '') ?? [];
  const value = whole === undefined ? Number(quantile ?? NaN) : Number(`${whole}.${fraction ?? 0}`) / 100;
  return value >= 0 && value <= 1 ? Number(value.toPrecision(12)) : null;
}
