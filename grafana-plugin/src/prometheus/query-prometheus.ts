import {
  CoreApp,
  type DataFrame,
  type DataQueryRequest,
  type DataQueryResponse,
  dateTime,
  FieldType,
  rangeUtil,
} from '@grafana/data';
import { getDataSourceSrv } from '@grafana/runtime';
import type { DataQuery } from '@grafana/schema';
import { from, lastValueFrom } from 'rxjs';
import { isNativeHistogram, nativeCells, type Cells } from './native-grid.ts';

/** One query in PromQL. */
export interface PrometheusTarget {
  refId: string;
  expr: string;
  /** One value per series at the end of the time; else values over it. */
  instant?: boolean;
}

/** Milliseconds since 1970. */
export interface TimeSpan {
  from: number;
  to: number;
}

export interface PrometheusSeries {
  refId: string;
  labels: Record<string, string>;
  /** Milliseconds since 1970. */
  times: number[];
  values: number[];
}

/** The data source could not answer; the message is its own. */
export class PrometheusError extends Error {
  override readonly name = 'PrometheusError';
}

let requests = 0;

/** A native histogram with its buckets, from the data source's cells. */
export interface NativeSeries {
  refId: string;
  labels: Record<string, string>;
  cells: Cells;
}

export interface PrometheusResponse {
  series: PrometheusSeries[];
  histograms: NativeSeries[];
}

/** Queries the Prometheus data source with that uid, as a panel would. Rejects when any of the queries fails. */
export async function queryPrometheus(
  uid: string,
  targets: readonly PrometheusTarget[],
  time: TimeSpan
): Promise<PrometheusSeries[]> {
  return (await queryBothKinds(uid, targets, time)).series;
}

/** The same with the native histograms among the responses, which have no values. */
export async function queryBothKinds(
  uid: string,
  targets: readonly PrometheusTarget[],
  { from: start, to: end }: TimeSpan,
  maxDataPoints = 500
): Promise<PrometheusResponse> {
  const dataSource = await getDataSourceSrv().get({ uid });
  const [fromTime, toTime] = [dateTime(start), dateTime(end)];
  const range = { from: fromTime, to: toTime, raw: { from: fromTime, to: toTime } };
  const { interval, intervalMs } = rangeUtil.calculateInterval(range, maxDataPoints, '1s');
  requests += 1;
  const request: DataQueryRequest<DataQuery> = {
    requestId: `llmbench-${requests}`,
    app: CoreApp.Unknown,
    range,
    interval,
    intervalMs,
    maxDataPoints,
    scopedVars: {},
    timezone: 'browser',
    startTime: Date.now(),
    targets: targets.map(({ refId, expr, instant = false }) => ({
      refId,
      expr,
      instant,
      range: !instant,
      format: 'time_series',
      datasource: dataSource.getRef(),
    })),
  };
  const response: DataQueryResponse = await lastValueFrom(from(dataSource.query(request)));
  const error = response.errors?.[0];
  if (error) {
    throw new PrometheusError(error.data?.message ?? error.message ?? 'Prometheus did not answer.');
  }
  const frames: DataFrame[] = response.data;
  return {
    series: frames.filter((frame) => !isNativeHistogram(frame)).flatMap(seriesOf),
    histograms: frames.flatMap(histogramOf),
  };
}

function seriesOf({ refId = '', fields }: DataFrame): PrometheusSeries[] {
  const time = fields.find(({ type }) => type === FieldType.time);
  return fields
    .filter(({ type }) => type === FieldType.number)
    .map(({ labels, values }) => ({
      refId,
      labels: { ...labels },
      times: [...(time?.values ?? [])],
      values: [...values],
    }));
}

function histogramOf(frame: DataFrame): NativeSeries[] {
  const found = isNativeHistogram(frame) ? nativeCells(frame) : null;
  if (found === null) {
    return [];
  }
  const [times, lows, highs, counts] = [found.time, found.low, found.high, found.count].map(({ values }) => values);
  const cells = { times: times ?? [], lows: lows ?? [], highs: highs ?? [], counts: counts ?? [] };
  return [{ refId: frame.refId ?? '', labels: { ...found.low.labels }, cells }];
}
