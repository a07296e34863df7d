import 'systemjs/dist/system.js';
import 'systemjs/dist/extras/amd.js';
import { type PanelPlugin } from '@grafana/data';
import { setPluginImportUtils } from '@grafana/runtime';
import * as emotionCss from '@emotion/css';
import * as emotionReact from '@emotion/react';
import * as grafanaData from '@grafana/data';
import * as grafanaRuntime from '@grafana/runtime';
import * as grafanaUi from '@grafana/ui';
import * as i18next from 'i18next';
import * as lodash from 'lodash';
// eslint-disable-next-line no-restricted-imports -- Grafana gives it to plugins.
import moment from 'moment';
import * as React from 'react';
import * as ReactDom from 'react-dom';
import * as jsxRuntime from 'react/jsx-runtime';
import * as routerDom from 'react-router-dom-v5';
import * as routerCompat from 'react-router-dom-v5-compat';
import * as rxjs from 'rxjs';
import * as rxjsOperators from 'rxjs/operators';

interface SystemJs {
  set(id: string, module: object): void;
  addImportMap(map: { imports: Record<string, string> }): void;
  import(url: string): Promise<{ plugin: unknown }>;
}

declare const System: SystemJs;

/** The modules that Grafana shares with its plugins, under the names that their builds leave external. */
const SHARED: Record<string, object> = {
  '@emotion/css': emotionCss,
  '@emotion/react': emotionReact,
  '@grafana/data': grafanaData,
  '@grafana/runtime': grafanaRuntime,
  '@grafana/ui': grafanaUi,
  i18next,
  lodash: { ...lodash, default: lodash, __useDefault: true },
  moment: { default: moment, __useDefault: true },
  react: React,
  'react-dom': ReactDom,
  'react/jsx-runtime': jsxRuntime,
  // Grafana shares the compatible router of version 6 under this name, and version 5 under the other.
  'react-router': routerCompat,
  'react-router-dom': routerDom,
  rxjs,
  'rxjs/operators': rxjsOperators,
};

/**
 * Gives the shared modules to the loader, which takes their exports as they are at that time: what Grafana's application
 * puts into them comes first.
 */
export function shareModules(): void {
  const imports: Record<string, string> = {};
  for (const [name, module] of Object.entries(SHARED)) {
    imports[name] = `package:${name}`;
    System.set(`package:${name}`, module);
  }
  System.addImportMap({ imports });
}

/** Where Grafana serves the plugin's files. */
export const PLUGIN_BASE = '/public/plugins/llmbench-observability-app';

/** Loads a built module.js as Grafana's loader does and returns the `plugin` that it exports. */
export async function loadPlugin(url: string): Promise<unknown> {
  const { plugin } = await System.import(url);
  return plugin;
}

/** What Grafana knows of a plugin: its plugin.json and where its files are. */
export async function pluginMeta(folder: string) {
  const json = await (await fetch(`${folder}/plugin.json`)).json();
  return { ...json, module: `${folder}/module.js`, baseUrl: PLUGIN_BASE, enabled: true, jsonData: {} };
}

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
