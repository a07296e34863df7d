import { type DataFrameDTO, dateTime, type TimeRange } from '@grafana/data';
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
}

const DEFAULT_RANGE_SECONDS = 900;
const { instant: queryInstant, range: queryRange } = prometheusApi('/prometheus');

/** Runs the queries of the page's address, as Grafana's Prometheus data source would. */
export async function loadData(parameters: URLSearchParams, width: number): Promise<HostData> {
  const to = Number(parameters.get('to') ?? Date.now());
  const from = Number(parameters.get('from') ?? to - Number(parameters.get('range') ?? DEFAULT_RANGE_SECONDS) * 1000);
  const step = Number(parameters.get('step') ?? Math.max(1, Math.round((to - from) / 1000 / width)));
  const stepMs = step * 1000;
  // Grafana moves the range to whole steps, so that a refresh asks for the same points.
  const window = {
    start: (Math.floor(from / stepMs) * stepMs) / 1000,
    end: (Math.floor(to / stepMs) * stepMs) / 1000,
    step,
  };
  const formats = parameters.getAll('format');
  const targets = parameters.getAll('query').map((expr, i): Target => {
    return { refId: String.fromCharCode(65 + i), expr, format: formats[i] ?? formats.at(-1) ?? 'time_series' };
  });
  const series = await Promise.all(
    targets.map(async ({ refId, expr, format }) => {
      const query = { refId, expr, stepMs };
      if (format === 'table') {
        return [tableFrame(await queryInstant(expr, to / 1000), query)];
      }
      const answer = await queryRange({ query: expr, ...window });
      return format === 'heatmap' ? heatmapFrames(answer, query) : timeSeriesFrames(answer, query);
    })
  );
  const annotation = parameters.get('annotation') ?? 'llmbench_run_phase == 1';
  const annotations = annotation ? [regionFrame(await queryRange({ query: annotation, ...window }), stepMs)] : [];
  const [start, end] = [dateTime(from), dateTime(to)];
  return {
    series: series.flat(),
    annotations,
    targets,
    timeRange: { from: start, to: end, raw: { from: start, to: end } },
  };
}
