import {
  type DataFrame,
  type DataFrameDTO,
  type DataQueryError,
  type DataQueryRequest,
  dateTime,
  LoadingState,
  type TimeRange,
} from '@grafana/data';
import { lastValueFrom } from 'rxjs';
import { regionFrame } from './prometheus-frames.ts';
import { PrometheusDataSource, prometheusSettings } from './services/data-sources.ts';

export interface Target {
  refId: string;
  expr: string;
  /** time_series, heatmap or table. */
  format: string;
}

export interface HostData {
  series: DataFrame[];
  annotations: DataFrameDTO[];
  timeRange: TimeRange;
  targets: Target[];
  state: LoadingState;
  /** Of the queries that failed. */
  errors: DataQueryError[];
}

const DEFAULT_RANGE_SECONDS = 900;
const dataSource = new PrometheusDataSource(prometheusSettings());

/** What Grafana hands to a panel before the first response. */
export function awaitedData(parameters: URLSearchParams): HostData {
  return {
    series: [],
    annotations: [],
    targets: targetsOf(parameters),
    timeRange: rangeOf(parameters),
    state: LoadingState.Loading,
    errors: [],
  };
}

/** Runs the queries of the page's address, as Grafana's Prometheus data source would; one may fail while others do not. */
export async function loadData(parameters: URLSearchParams, width: number): Promise<HostData> {
  const timeRange = rangeOf(parameters);
  const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  const step = Number(parameters.get('step') ?? Math.max(1, Math.round((to - from) / 1000 / width)));
  const stepMs = step * 1000;
  const targets = targetsOf(parameters);
  const request: Partial<DataQueryRequest> = {
    targets: targets.map((target) => ({ ...target, instant: target.format === 'table' })),
    range: timeRange,
    intervalMs: stepMs,
  };
  const { data, state, errors = [] } = await lastValueFrom(dataSource.query(request as DataQueryRequest));
  const annotation = parameters.get('annotation') ?? 'llmbench_run_phase == 1';
  const window = { start: alignedSeconds(from, stepMs), end: alignedSeconds(to, stepMs), step };
  const regions = annotation ? await dataSource.api.range({ query: annotation, ...window }) : null;
  const annotations = regions ? [regionFrame(regions, stepMs)] : [];
  return { series: data as DataFrame[], annotations, targets, timeRange, state: state ?? LoadingState.Done, errors };
}

/** Grafana aligns the range to whole steps, so that a refresh requests the same points. */
const alignedSeconds = (time: number, stepMs: number): number => (Math.floor(time / stepMs) * stepMs) / 1000;

function rangeOf(parameters: URLSearchParams): TimeRange {
  const to = Number(parameters.get('to') ?? Date.now());
  const from = Number(parameters.get('from') ?? to - Number(parameters.get('range') ?? DEFAULT_RANGE_SECONDS) * 1000);
  const [start, end] = [dateTime(from), dateTime(to)];
  return { from: start, to: end, raw: { from: start, to: end } };
}

function targetsOf(parameters: URLSearchParams): Target[] {
  const formats = parameters.getAll('format');
  return parameters.getAll('query').map((expr, i): Target => {
    return { refId: String.fromCharCode(65 + i), expr, format: formats[i] ?? formats.at(-1) ?? 'time_series' };
  });
}
