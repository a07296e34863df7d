import {
  type DataQuery,
  type DataQueryRequest,
  type DataQueryResponse,
  DataSourceApi,
  LoadingState,
  type TestDataSourceResponse,
  toDataFrame,
} from '@grafana/data';
import { from, type Observable } from 'rxjs';
import { prometheusApi } from '../prometheus-api.ts';
import { heatmapFrames, instantFrames, tableFrame, timeSeriesFrames } from '../prometheus-frames.ts';

interface PrometheusQuery extends DataQuery {
  expr: string;
  format?: string;
  instant?: boolean;
  legendFormat?: string;
}

const MAX_STEP_COUNT = 11_000;

/** Does what Grafana's Prometheus data source does for the plugin's queries, in the browser. */
export class PrometheusDataSource extends DataSourceApi {
  override query(request: DataQueryRequest): Observable<DataQueryResponse> {
    return from(this.#response(request as DataQueryRequest<PrometheusQuery>));
  }

  override async testDatasource(): Promise<TestDataSourceResponse> {
    await this.#api().instant('1', Date.now() / 1000);
    return { status: 'success', message: 'Successfully queried the Prometheus API.' };
  }

  async #response(request: DataQueryRequest<PrometheusQuery>): Promise<DataQueryResponse> {
    const responses = await Promise.allSettled(request.targets.map((target) => this.#frames(target, request)));
    const errors = responses.flatMap((response, i) =>
      response.status === 'rejected'
        ? [{ refId: request.targets[i]?.refId ?? '', message: String(response.reason?.message ?? response.reason) }]
        : []
    );
    return {
      data: responses.flatMap((response) => (response.status === 'fulfilled' ? response.value.map(toDataFrame) : [])),
      state: errors.length > 0 ? LoadingState.Error : LoadingState.Done,
      ...(errors[0] && { errors, error: errors[0] }),
    };
  }

  async #frames(target: PrometheusQuery, { range, intervalMs }: DataQueryRequest<PrometheusQuery>) {
    const [start, end] = [range.from.valueOf() / 1000, range.to.valueOf() / 1000];
    const step = Math.max(1, Math.round(intervalMs / 1000), Math.ceil((end - start) / MAX_STEP_COUNT));
    const expr = interpolated(target.expr, end - start, step);
    const query = { refId: target.refId, expr, stepMs: step * 1000 };
    if (target.instant) {
      const series = await this.#api().instant(expr, end);
      return target.format === 'table' ? [tableFrame(series, query)] : instantFrames(series, query);
    }
    const [from, to] = [Math.floor(start / step) * step, Math.floor(end / step) * step];
    const series = await this.#api().range({ query: expr, start: from, end: to, step });
    return target.format === 'heatmap' ? heatmapFrames(series, query) : timeSeriesFrames(series, query);
  }

  #api() {
    return prometheusApi(`/api/datasources/proxy/uid/${this.uid}`);
  }
}

/** Grafana's own variables. A rate never looks at less than four scrapes. */
function interpolated(expr: string, rangeSeconds: number, stepSeconds: number): string {
  const range = `${Math.max(1, Math.round(rangeSeconds))}s`;
  return expr
    .replaceAll('$__rate_interval', `${Math.max(8, stepSeconds + 2)}s`)
    .replaceAll('$__range', range)
    .replaceAll('$__interval', `${stepSeconds}s`);
}
