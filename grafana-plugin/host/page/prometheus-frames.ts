import { type DataFrameDTO, FieldType } from '@grafana/data';
import type { PrometheusSeries } from './prometheus-api.ts';

/** Frames as Grafana's Prometheus data source hands them to a panel, for each of its formats. */

interface Query {
  refId: string;
  expr: string;
  stepMs: number;
}

export function timeSeriesFrames(series: readonly PrometheusSeries[], query: Query): DataFrameDTO[] {
  return series.map((one, i) => {
    const { expr, stepMs } = query;
    const frame = one.histograms ? nativeFrame(one, query) : timeSeriesFrame(one, query);
    // The data source reports the query on the first frame only.
    return i > 0
      ? frame
      : { ...frame, meta: { ...frame.meta, executedQueryString: `Expr: ${expr}\nStep: ${stepMs / 1000}s` } };
  });
}

function timeSeriesFrame({ metric, values }: PrometheusSeries, { refId, stepMs }: Query): DataFrameDTO {
  return {
    refId,
    meta: {
      type: 'timeseries-multi' as NonNullable<DataFrameDTO['meta']>['type'],
      typeVersion: [0, 1],
      custom: { resultType: 'matrix' },
    },
    fields: [
      { name: 'Time', type: FieldType.time, config: { interval: stepMs }, values: times(values) },
      {
        name: metric['__name__'] ?? 'Value',
        type: FieldType.number,
        labels: metric,
        config: { displayNameFromDS: seriesText(metric) },
        values: values.map(([, value]) => Number(value)),
      },
    ],
  };
}

/** A row per bucket and time. A time at which the histogram had no observations has none. */
function nativeFrame({ metric, histograms = [] }: PrometheusSeries, { refId, stepMs }: Query): DataFrameDTO {
  const cells = histograms.flatMap(([time, { buckets = [] }]) =>
    buckets.map(([boundaries, low, high, count]) => ({
      boundaries,
      time: Math.round(time * 1000),
      ...{ low: numberOf(low), high: numberOf(high), count: Number(count) },
    }))
  );
  return {
    refId,
    meta: { type: 'heatmap-cells' as NonNullable<DataFrameDTO['meta']>['type'], typeVersion: [0, 0] },
    fields: [
      { name: 'xMax', type: FieldType.time, config: { interval: stepMs }, values: cells.map(({ time }) => time) },
      {
        name: 'yMin',
        type: FieldType.number,
        labels: metric,
        config: { displayNameFromDS: seriesText(metric) },
        values: cells.map(({ low }) => low),
      },
      { name: 'yMax', type: FieldType.number, config: {}, values: cells.map(({ high }) => high) },
      { name: 'count', type: FieldType.number, config: {}, values: cells.map(({ count }) => count) },
      { name: 'yLayout', type: FieldType.number, config: {}, values: cells.map(({ boundaries }) => boundaries) },
    ],
  };
}

function numberOf(text: string): number {
  return Number(text.replace('Inf', 'Infinity'));
}

/** One frame per set of the other labels, one field per bucket in order of `le`, each without the buckets below it. */
export function heatmapFrames(series: readonly PrometheusSeries[], { refId, stepMs }: Query): DataFrameDTO[] {
  const groups = new Map<string, PrometheusSeries[]>();
  for (const one of series) {
    const { le: _le, ...labels } = one.metric;
    const key = JSON.stringify(Object.entries(labels).sort());
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].map((group) => {
    const sorted = group.sort((a, b) => bound(a) - bound(b));
    return {
      refId,
      name: sorted[0]?.metric['le'] ?? '',
      meta: {
        type: 'heatmap-rows' as NonNullable<DataFrameDTO['meta']>['type'],
        typeVersion: [0, 1],
        custom: { resultType: 'matrix' },
      },
      fields: [
        { name: 'Time', type: FieldType.time, config: { interval: stepMs }, values: times(sorted[0]?.values ?? []) },
        ...sorted.map(({ metric, values }, i) => ({
          name: metric['le'] ?? '',
          type: FieldType.number,
          labels: metric,
          config: { displayNameFromDS: metric['le'] ?? '' },
          values: values.map(([, value], row) => Number(value) - Number(sorted[i - 1]?.values[row]?.[1] ?? 0)),
        })),
      ],
    };
  });
}

/** An instant query in the format "Time series": a frame of one row per series. */
export function instantFrames(series: readonly PrometheusSeries[], query: Query): DataFrameDTO[] {
  return timeSeriesFrames(series, query).map((frame, i) =>
    series[i]?.histograms
      ? frame
      : { ...frame, meta: { ...frame.meta, type: 'numeric-multi' as NonNullable<DataFrameDTO['meta']>['type'] } }
  );
}

/** An instant query in the format "Table": a column per label. */
export function tableFrame(series: readonly PrometheusSeries[], { refId, expr, stepMs }: Query): DataFrameDTO {
  const labels = [...new Set(series.flatMap(({ metric }) => Object.keys(metric)))];
  return {
    refId,
    meta: {
      type: 'numeric-multi' as NonNullable<DataFrameDTO['meta']>['type'],
      typeVersion: [0, 1],
      custom: { resultType: 'vector' },
      executedQueryString: `Expr: ${expr}\nStep: ${stepMs / 1000}s`,
    },
    fields: [
      {
        name: 'Time',
        type: FieldType.time,
        config: { interval: stepMs },
        values: series.map(({ values }) => (values[0]?.[0] ?? 0) * 1000),
      },
      ...labels.map((name) => ({
        name,
        type: FieldType.string,
        config: { filterable: true },
        values: series.map(({ metric }) => metric[name] ?? ''),
      })),
      { name: 'Value', type: FieldType.number, config: {}, values: series.map(({ values }) => Number(values[0]?.[1])) },
    ],
  };
}

/** The annotation query `expr` as regions: neighboring samples of a series belong together. */
export function regionFrame(series: readonly PrometheusSeries[], stepMs: number): DataFrameDTO {
  const regions = series.flatMap(({ metric, values }) => {
    const spans: Array<{ start: number; end: number; metric: Record<string, string> }> = [];
    for (const time of times(values)) {
      const last = spans.at(-1);
      if (last && time - last.end <= stepMs) {
        last.end = time;
      } else {
        spans.push({ start: time, end: time, metric });
      }
    }
    return spans;
  });
  const column = (name: string, type: FieldType, values: unknown[]) => ({ name, type, config: {}, values });
  return {
    meta: { dataTopic: 'annotations' as NonNullable<DataFrameDTO['meta']>['dataTopic'] },
    fields: [
      column(
        'time',
        FieldType.time,
        regions.map(({ start }) => start)
      ),
      column(
        'timeEnd',
        FieldType.number,
        regions.map(({ end }) => end)
      ),
      column(
        'title',
        FieldType.string,
        regions.map(({ metric }) => `run ${metric['run_id']} ${metric['phase']}`)
      ),
      column(
        'text',
        FieldType.string,
        regions.map(({ metric }) => metric['run_id'] ?? '')
      ),
      column(
        'color',
        FieldType.string,
        regions.map(() => '#5794F2')
      ),
      column(
        'isRegion',
        FieldType.boolean,
        regions.map(() => true)
      ),
    ],
  };
}

function times(values: PrometheusSeries['values']): number[] {
  return values.map(([time]) => Math.round(time * 1000));
}

function bound({ metric }: PrometheusSeries): number {
  return metric['le'] === '+Inf' ? Infinity : Number(metric['le']);
}

function seriesText({ __name__: name = '', ...labels }: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${pairs.join(', ')}}`;
}
