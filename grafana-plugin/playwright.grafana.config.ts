import { defineConfig } from '@playwright/test';
import type { PluginOptions } from '@grafana/plugin-e2e';
import base from './playwright.config.ts';

const { GRAFANA_URL, GRAFANA_USER = 'admin', GRAFANA_PASSWORD = 'admin' } = process.env;
const user = { user: GRAFANA_USER, password: GRAFANA_PASSWORD };

/**
 * The user journeys, with @grafana/plugin-e2e, in a Grafana that runs at GRAFANA_URL with the plugin, the project's
 * provisioning, its dashboards, at least two finished runs of the last day, a sweep, and a scenario whose regression
 * is open (`llmbench check`). GRAFANA_USER and GRAFANA_PASSWORD sign in,
 * CHROMIUM names the browser.
 */
const { globalSetup: _globalSetup, testMatch: _testMatch, ...rest } = base;
export default defineConfig<PluginOptions>({
  ...rest,
  // A page of a real Grafana requests a hundred files and more.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  use: {
    ...base.use,
    baseURL: GRAFANA_URL ?? 'http://127.0.0.1:3000',
    user,
    grafanaAPICredentials: user,
  },
  projects: [
    {
      name: 'sign in',
      testDir: './node_modules/@grafana/plugin-e2e/dist/auth',
      testMatch: 'auth.setup.js',
    },
    {
      name: 'journeys',
      testDir: './e2e-grafana',
      testMatch: '*.spec.ts',
      dependencies: ['sign in'],
      // Where @grafana/plugin-e2e keeps the session.
      use: { storageState: `playwright/.auth/${GRAFANA_USER}.json` },
    },
  ],
});
