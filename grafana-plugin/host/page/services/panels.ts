import { type PanelPlugin } from '@grafana/data';
import { setPluginImportUtils } from '@grafana/runtime';
import { loadPlugin, PLUGIN_BASE, pluginMeta } from '../plugin-loader.ts';

const PANEL_ID = 'llmbench-percentiles-panel';
const FOLDER = `${PLUGIN_BASE}/panels/percentiles`;
const loaded = new Map<string, PanelPlugin>();

export async function importPanel(id: string): Promise<PanelPlugin> {
  if (id !== PANEL_ID) {
    throw new Error(`${id} is not in Grafana's published packages`);
  }
  const plugin = loaded.get(id) ?? ((await loadPlugin(`${FOLDER}/module.js`)) as PanelPlugin);
  plugin.meta = (await pluginMeta(FOLDER)) as PanelPlugin['meta'];
  loaded.set(id, plugin);
  return plugin;
}

/** Scenes look up the panels that they draw here: only the plugin's own is available. */
export function registerPanels(): void {
  setPluginImportUtils({
    importPanelPlugin: importPanel,
    getPanelPluginFromCache: (id) => loaded.get(id),
  });
}
