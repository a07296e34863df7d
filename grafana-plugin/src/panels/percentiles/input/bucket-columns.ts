import { FieldType, type DataFrame, type Field, type Labels } from '@grafana/data';
import { parseBound } from '../../../../../core/histogram/classic-histogram.ts';

/** The samples of one bucket: the series of one `le`. */
export interface BucketColumn {
  bound: number;
  times: readonly number[];
  values: ReadonlyArray<number | null>;
}

/** The buckets that belong together: same query, metric and labels. */
export interface BucketGroup {
  refId: string;
  /** `__name__`, where the query has kept it. */
  metricName: string | undefined;
  /** Labels without `le` and `__name__`. */
  labels: Labels;
  /** True when `values` count one bucket only (Grafana's heatmap format), false when they are cumulative over `le`. */
  perBucket: boolean;
  stepMs: number;
  field: Field;
  columns: BucketColumn[];
}

/** Collects the number fields that carry a label `le`, grouped by query, metric and all other labels. */
export function collectBuckets(frames: readonly DataFrame[]): BucketGroup[] {
  const groups = new Map<string, BucketGroup>();
  for (const frame of frames) {
    const time = frame.fields.find((field) => field.type === FieldType.time);
    if (!time) {
      continue;
    }
    for (const field of frame.fields) {
      const bound = field.type === FieldType.number ? parseBound(field.labels?.['le'] ?? '') : null;
      if (bound !== null) {
        groupOf(groups, frame, field, time).columns.push({ bound, times: time.values, values: field.values });
      }
    }
  }
  for (const group of groups.values()) {
    group.columns.sort((a, b) => a.bound - b.bound);
  }
  return [...groups.values()];
}

function groupOf(groups: Map<string, BucketGroup>, frame: DataFrame, field: Field, time: Field): BucketGroup {
  const { le: _le, __name__: name, ...labels } = field.labels ?? {};
  const refId = frame.refId ?? '';
  const perBucket = frame.meta?.type === 'heatmap-rows';
  const key = JSON.stringify([refId, name, perBucket, Object.entries(labels).sort()]);
  let group = groups.get(key);
  if (!group) {
    group = { refId, metricName: name, labels, perBucket, stepMs: stepOf(time), field, columns: [] };
    groups.set(key, group);
  }
  return group;
}

/** Grafana's Prometheus data source writes the step into the time field; else the median distance of the samples. */
export function stepOf(time: Field<number>): number {
  if (time.config.interval) {
    return time.config.interval;
  }
  const distances = time.values.slice(1).map((value, i) => value - (time.values[i] ?? value));
  const apart = distances.filter((distance) => distance > 0).sort((a, b) => a - b);
  return apart[Math.floor(apart.length / 2)] ?? 0;
}
