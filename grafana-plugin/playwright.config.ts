import { defineConfig } from '@playwright/test';
import { ensureChromium } from '../scripts/chromium.mjs';

/**
 * Browser tests of the built plugin: `npm run build` first. CHROMIUM names the browser, GRAFANA_LINE
 * the packages that make the host (a folder `host/grafana-<line>`; without it those that the plugin is built with).
 */
export default defineConfig({
  testDir: './e2e',
  testMatch: process.env['UPDATE_SCREENSHOT'] ? '*.picture.ts' : '*.spec.ts',
  // The speed is that of the plugin's sources, without a host.
  testIgnore: process.env['GRAFANA_LINE'] ? '*-speed.spec.ts' : [],
  globalSetup: './e2e/support/global-setup.ts',
  // One waits half of the time: for pages to load and for Prometheus.
  workers: 2,
  // Limits against hanging, not measures of speed: a busy machine may take its time.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  forbidOnly: Boolean(process.env['CI']),
  reporter: [['list']],
  use: {
    viewport: { width: 1600, height: 900 },
    launchOptions: {
      executablePath: ensureChromium({ install: false }) ?? 'chromium',
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
