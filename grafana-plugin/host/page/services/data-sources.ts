import {
  type DataQuery,
  type DataQueryRequest,
  type DataQueryResponse,
  DataSourceApi,
  type DataSourceInstanceSettings,
  type DataSourcePlugin,
  type DataSourcePluginMeta,
  LoadingState,
  type TestDataSourceResponse,
  toDataFrame,
} from '@grafana/data';
import { type DataSourceSrv, type GetDataSourceListFilters, setDataSourceSrv } from '@grafana/runtime';
import { from, type Observable } from 'rxjs';
import { loadPlugin, PLUGIN_BASE } from '../plugin-loader.ts';
import { prometheusApi } from '../prometheus-api.ts';
import { heatmapFrames, instantFrames, tableFrame, timeSeriesFrames } from '../prometheus-frames.ts';

export const PROMETHEUS_UID = 'prometheus';
export const RUNS_UID = 'llmbench-runs';
const RUNS_FOLDER = `${PLUGIN_BASE}/datasources/runs`;

interface Entry {
  settings: DataSourceInstanceSettings;
  api: DataSourceApi;
}

/** Grafana's list of data sources: a Prometheus and the exporter's runs, each unless the page's address leaves it out. */
export async function registerDataSources(parameters: URLSearchParams): Promise<void> {
  const without = parameters.getAll('without');
  const entries: Entry[] = [];
  if (!without.includes(PROMETHEUS_UID)) {
    const settings = prometheusSettings();
    entries.push({ settings, api: new PrometheusDataSource(settings) });
  }
  if (!without.includes(RUNS_UID)) {
    const meta = await (await fetch(`${RUNS_FOLDER}/plugin.json`)).json();
    const settings = instance(2, RUNS_UID, 'llmbench runs', { ...meta, baseUrl: RUNS_FOLDER });
    const plugin = (await loadPlugin(`${RUNS_FOLDER}/module.js`)) as DataSourcePlugin<DataSourceApi>;
    const api = new plugin.DataSourceClass(settings);
    api.components = plugin.components;
    api.meta = settings.meta;
    entries.push({ settings, api });
  }
  const find = (ref: unknown): Entry | undefined => {
    const uid = typeof ref === 'string' ? ref : (ref as { uid?: string } | null | undefined)?.uid;
    return entries.find(({ settings }) => settings.uid === uid || settings.name === uid);
  };
  const service: Partial<DataSourceSrv> = {
    get: async (ref) => {
      const found = find(ref);
      if (!found) {
        throw new Error(`Datasource ${JSON.stringify(ref)} was not found`);
      }
      return found.api;
    },
    getList: (filters?: GetDataSourceListFilters) =>
      entries.map(({ settings }) => settings).filter(({ type }) => !filters?.pluginId || filters.pluginId === type),
    getInstanceSettings: (ref) => find(ref)?.settings,
  };
  setDataSourceSrv(service as DataSourceSrv);
}

export const prometheusSettings = () =>
  instance(1, PROMETHEUS_UID, 'Prometheus', { id: 'prometheus', annotations: true });

function instance(
  id: number,
  uid: string,
  name: string,
  meta: Partial<DataSourcePluginMeta> & { id: string }
): DataSourceInstanceSettings {
  return {
    id,
    uid,
    name,
    type: meta.id,
    url: `/api/datasources/proxy/uid/${uid}`,
    access: 'proxy',
    readOnly: false,
    isDefault: id === 1,
    jsonData: {},
    meta: { info: { logos: { small: '', large: '' } }, ...meta } as DataSourcePluginMeta,
  };
}

interface PrometheusQuery extends DataQuery {
  expr: string;
  format?: string;
  instant?: boolean;
  legendFormat?: string;
}

const MAX_STEP_COUNT = 11_000;

/** Does what Grafana's Prometheus data source does for the plugin's queries, in the browser. */
export class PrometheusDataSource extends DataSourceApi {
  readonly api = prometheusApi(`/api/datasources/proxy/uid/${this.uid}`);

  override query(request: DataQueryRequest): Observable<DataQueryResponse> {
    return from(this.#response(request as DataQueryRequest<PrometheusQuery>));
  }

  override async testDatasource(): Promise<TestDataSourceResponse> {
    await this.api.instant('1', Date.now() / 1000);
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
      const series = await this.api.instant(expr, end);
      return target.format === 'table' ? [tableFrame(series, query)] : instantFrames(series, query);
    }
    const [from, to] = [Math.floor(start / step) * step, Math.floor(end / step) * step];
    const series = await this.api.range({ query: expr, start: from, end: to, step });
    return target.format === 'heatmap' ? heatmapFrames(series, query) : timeSeriesFrames(series, query);
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
