import './boot.ts';
import { type AppPlugin, createTheme, type PanelPlugin, PluginContextProvider, ThemeContext } from '@grafana/data';
import { locationService, LocationServiceProvider } from '@grafana/runtime';
import { GlobalStyles, PortalContainer } from '@grafana/ui';
import React, { type ReactNode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'react-router-dom-v5';
import { CompatRouter, Route, Routes } from 'react-router-dom-v5-compat';
import { awaitedData, loadData } from './panel-data.ts';
import { PanelEditor } from './PanelEditor.tsx';
import { PanelHost } from './PanelHost.tsx';
import { importPanel, loadPlugin, PLUGIN_BASE, pluginMeta, registerPanels, shareModules } from './plugin-loader.ts';
import { registerStandards } from './registries.ts';
import { registerDataSources } from './services/data-sources.ts';
import { registerServices } from './services/grafana-services.tsx';

const APP_PATH = '/a/llmbench-observability-app';
const MARGIN = 8;

const parameters = new URLSearchParams(window.location.search);
const theme = createTheme({ colors: { mode: parameters.get('theme') === 'light' ? 'light' : 'dark' } });

async function panel(): Promise<ReactNode> {
  const width = Number(parameters.get('width') ?? window.innerWidth - 2 * MARGIN);
  const height = Number(parameters.get('height') ?? 420);
  return <PanelPage plugin={await importPanel('llmbench-percentiles-panel')} width={width} height={height} />;
}

/** The panel from its first drawing on, before the responses are there. */
function PanelPage({ plugin, width, height }: { plugin: PanelPlugin; width: number; height: number }) {
  const [data, setData] = useState(() => awaitedData(parameters));
  useEffect(() => {
    loadData(parameters, width).then(setData, (error: unknown) => console.error(error));
  }, [width]);
  if (parameters.get('editor') === 'true') {
    return (
      <div style={{ padding: MARGIN }}>
        <PanelEditor {...{ plugin, data, parameters, theme, width, height }} />
      </div>
    );
  }
  return (
    <div style={{ padding: MARGIN }}>
      <PanelHost {...{ plugin, data, parameters, theme, width, height }} />
    </div>
  );
}

async function app(): Promise<ReactNode> {
  await registerDataSources(parameters);
  const plugin = (await loadPlugin(`${PLUGIN_BASE}/module.js`)) as AppPlugin;
  const meta = (await pluginMeta(PLUGIN_BASE)) as AppPlugin['meta'];
  plugin.meta = meta;
  plugin.init(meta);
  const Root = plugin.root;
  return (
    <PluginContextProvider meta={meta}>
      <Routes>
        <Route
          path={`${APP_PATH}/*`}
          element={Root && <Root meta={meta} basename={APP_PATH} onNavChanged={() => {}} query={{}} path="" />}
        />
      </Routes>
    </PluginContextProvider>
  );
}

/** Like Grafana, opens links to the app without reloading the page. */
function followLinks(): void {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    const { origin, pathname, search, hash } = new URL(link.href);
    if (link.target === '_blank' || origin !== window.location.origin || !pathname.startsWith('/a/')) {
      return;
    }
    event.preventDefault();
    locationService.push(`${pathname}${search}${hash}`);
  });
}

const root = createRoot(document.getElementById('root') as HTMLElement);
const show = (content: ReactNode) =>
  root.render(
    <ThemeContext.Provider value={theme}>
      <LocationServiceProvider service={locationService}>
        <Router history={locationService.getHistory()}>
          <CompatRouter>
            <GlobalStyles />
            {content}
            <PortalContainer />
          </CompatRouter>
        </Router>
      </LocationServiceProvider>
    </ThemeContext.Provider>
  );

async function start(): Promise<ReactNode> {
  document.body.className = `theme-${theme.name.toLowerCase()}`;
  document.body.style.background = theme.colors.background.canvas;
  registerStandards();
  await registerServices();
  registerPanels();
  shareModules();
  followLinks();
  return window.location.pathname.startsWith(APP_PATH) ? app() : panel();
}

start().then(show, (error: unknown) => {
  console.error(error);
  show(<pre role="alert">{String(error)}</pre>);
});
