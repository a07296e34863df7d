import { type DataFrameDTO, type DataQueryError, dateTime, LoadingState, type TimeRange } from '@grafana/data';
import { prometheusApi } from './prometheus-api.ts';
import { heatmapFrames, regionFrame, tableFrame, timeSeriesFrames } from './prometheus-frames.ts';

export interface Target {
  refId: string;
  expr: string;
  /** time_series, heatmap or table. */
  format: string;
}

export interface HostData {
  series: DataFrameDTO[];
  annotations: DataFrameDTO[];
  timeRange: TimeRange;
  targets: Target[];
  state: LoadingState;
  /** Of the queries that failed. */
  errors: DataQueryError[];
}

const DEFAULT_RANGE_SECONDS = 900;
const { instant: queryInstant, range: queryRange } = prometheusApi('/prometheus');

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
  // Grafana aligns the range to whole steps, so that a refresh requests the same points.
  const window = {
    start: (Math.floor(from / stepMs) * stepMs) / 1000,
    end: (Math.floor(to / stepMs) * stepMs) / 1000,
    step,
  };
  const targets = targetsOf(parameters);
  const responses = await Promise.allSettled(
    targets.map(async ({ refId, expr, format }) => {
      const query = { refId, expr, stepMs };
      if (format === 'table') {
        return [tableFrame(await queryInstant(expr, to / 1000), query)];
      }
      const response = await queryRange({ query: expr, ...window });
      return format === 'heatmap' ? heatmapFrames(response, query) : timeSeriesFrames(response, query);
    })
  );
  const annotation = parameters.get('annotation') ?? 'llmbench_run_phase == 1';
  const annotations = annotation ? [regionFrame(await queryRange({ query: annotation, ...window }), stepMs)] : [];
  const errors = responses.flatMap((response, i): DataQueryError[] =>
    response.status === 'rejected' ? [{ refId: targets[i]?.refId ?? '', message: String(response.reason.message) }] : []
  );
  return {
    series: responses.flatMap((response) => (response.status === 'fulfilled' ? response.value : [])),
    annotations,
    targets,
    timeRange,
    state: errors.length > 0 ? LoadingState.Error : LoadingState.Done,
    errors,
  };
}

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
