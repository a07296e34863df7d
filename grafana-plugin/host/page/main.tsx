import './boot.ts';
import { type AppPlugin, createTheme, type PanelPlugin, PluginContextProvider, ThemeContext } from '@grafana/data';
import { locationService, LocationServiceProvider } from '@grafana/runtime';
import { GlobalStyles, PortalContainer } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'react-router-dom';
import { CompatRouter } from 'react-router-dom-v5-compat';
import { loadData } from './panel-data.ts';
import { PanelHost } from './PanelHost.tsx';
import { loadPlugin } from './plugin-loader.ts';
import { registerStandards } from './registries.ts';

const BASE = '/public/plugins/llmbench-observability-app';
const MARGIN = 8;

const parameters = new URLSearchParams(window.location.search);
const theme = createTheme({ colors: { mode: parameters.get('theme') === 'light' ? 'light' : 'dark' } });

async function panel(): Promise<ReactNode> {
  const width = Number(parameters.get('width') ?? window.innerWidth - 2 * MARGIN);
  const height = Number(parameters.get('height') ?? 420);
  const plugin = (await loadPlugin(`${BASE}/panels/percentiles/module.js`)) as PanelPlugin;
  plugin.meta = await meta(`${BASE}/panels/percentiles/plugin.json`, `${BASE}/panels/percentiles/module.js`);
  const data = await loadData(parameters, width);
  return <PanelHost {...{ plugin, data, parameters, theme, width, height }} />;
}

async function app(): Promise<ReactNode> {
  const plugin = (await loadPlugin(`${BASE}/module.js`)) as AppPlugin;
  plugin.meta = await meta(`${BASE}/plugin.json`, `${BASE}/module.js`);
  plugin.init(plugin.meta);
  const Root = plugin.root;
  return (
    <PluginContextProvider meta={plugin.meta}>
      {Root && (
        <Root meta={plugin.meta} basename="/a/llmbench-observability-app" onNavChanged={() => {}} query={{}} path="" />
      )}
    </PluginContextProvider>
  );
}

async function meta(url: string, module: string) {
  const json = await (await fetch(url)).json();
  return { ...json, module, baseUrl: BASE, enabled: true, jsonData: {} };
}

const root = createRoot(document.getElementById('root') as HTMLElement);
const show = (content: ReactNode) =>
  root.render(
    <ThemeContext.Provider value={theme}>
      <LocationServiceProvider service={locationService}>
        <Router history={locationService.getHistory()}>
          <CompatRouter>
            <GlobalStyles />
            <div style={{ padding: MARGIN }}>{content}</div>
            <PortalContainer />
          </CompatRouter>
        </Router>
      </LocationServiceProvider>
    </ThemeContext.Provider>
  );

document.body.className = `theme-${theme.name.toLowerCase()}`;
document.body.style.background = theme.colors.background.canvas;
registerStandards();
const content = parameters.get('view') === 'app' ? app() : panel();
content.then(show, (error: unknown) => {
  console.error(error);
  show(<pre role="alert">{String(error)}</pre>);
});
