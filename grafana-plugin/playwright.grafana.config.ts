import { defineConfig } from '@playwright/test';
import base from './playwright.config.ts';

const { GRAFANA_URL, GRAFANA_USER = 'admin', GRAFANA_PASSWORD = 'admin' } = process.env;
const credentials = Buffer.from(`${GRAFANA_USER}:${GRAFANA_PASSWORD}`).toString('base64');

/**
 * The user journeys in a Grafana that runs at GRAFANA_URL with the plugin, the project's provisioning and at least one
 * finished run. It has to accept basic authentication (GRAFANA_USER, GRAFANA_PASSWORD).
 */
const { globalSetup: _globalSetup, ...rest } = base;
export default defineConfig({
  ...rest,
  testDir: './e2e-grafana',
  testMatch: '*.spec.ts',
  use: {
    ...base.use,
    baseURL: GRAFANA_URL ?? 'http://127.0.0.1:3000',
    extraHTTPHeaders: { Authorization: `Basic ${credentials}` },
  },
});
