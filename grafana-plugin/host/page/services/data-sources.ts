import {
  type DataSourceApi,
  type DataSourceInstanceSettings,
  type DataSourcePlugin,
  type DataSourcePluginMeta,
} from '@grafana/data';
import { type DataSourceSrv, type GetDataSourceListFilters, setDataSourceSrv } from '@grafana/runtime';
import { loadPlugin, PLUGIN_BASE } from '../plugin-loader.ts';
import { PrometheusDataSource } from './prometheus-data-source.ts';

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
    const settings = instance(1, PROMETHEUS_UID, 'Prometheus', {
      id: 'prometheus',
      annotations: true,
    });
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
