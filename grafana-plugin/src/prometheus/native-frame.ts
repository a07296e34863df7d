import type { DataFrame, Field } from '@grafana/data';

/** True when the frame holds native histograms: the data source's heatmap cells with edges of their own. */
export function isNativeHistogram(frame: DataFrame): boolean {
  return frame.meta?.type === 'heatmap-cells' && column(frame, 'yMax') !== undefined;
}

/** The buckets of a native histogram; null where the frame has none. */
export function nativeCells(frame: DataFrame): NativeCells | null {
  const [time, high, count] = ['xMax', 'yMax', 'count'].map((name) => column(frame, name));
  // Where the query keeps the metric's name, some versions of the data source call the column yMin by it.
  const low = column(frame, 'yMin') ?? frame.fields[1];
  return time && low && high && count ? { time, low, high, count } : null;
}

interface NativeCells {
  time: Field<number>;
  /** Has the labels. */
  low: Field<number>;
  high: Field<number>;
  count: Field<number>;
}

function column(frame: DataFrame, name: string) {
  return frame.fields.find((field) => field.name === name);
}
