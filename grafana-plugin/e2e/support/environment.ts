import { type BrowserContext, expect, type Page, test as base } from '@playwright/test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostUrl, type PageParameters } from '../../host/server.ts';

export interface Environment {
  /** The host page with the panel's data. */
  hostUrl: string;
  /** The host page with the app's data. */
  appUrl: string;
  /** The host page with the runs of `store-judged-runs.mts`. */
  judgedUrl: string;
  /** The host page with the runs of `start-staged-data.ts`. */
  stagedUrl: string;
  /** The host page with the app's data from a Prometheus that stores only native histograms. */
  nativeUrl: string;
  prometheusUrl: string;
  /** Ids of the finished runs, the oldest first: two, for pictures more. */
  finished: [string, string, ...string[]];
  /** Job and instance of the server of the runs. */
  vllmServer: string;
  /** Job and instance of a server that Prometheus no longer scrapes. */
  stoppedServer: string;
  /** Job and instance of a server with a histogram of exponential buckets, in the Prometheus with native histograms. */
  exponentialServer: string;
  fromMs: number;
  toMs: number;
}

interface Fixtures {
  environment: Environment;
  /** Opens the panel over the time range of its test data. */
  open: (parameters: PageParameters) => Promise<void>;
  /** Opens a page of the app: `runs`, `runs/<id>`, `compare` … */
  openApp: (page: string, parameters?: PageParameters) => Promise<void>;
  /** The same with the runs of `store-judged-runs.mts`. */
  openJudged: (page: string, parameters?: PageParameters) => Promise<void>;
  /** The same with the runs of `start-staged-data.ts`. */
  openStaged: (page: string, parameters?: PageParameters) => Promise<void>;
  /** The same with a Prometheus that stores only native histograms. */
  openNative: (page: string, parameters?: PageParameters) => Promise<void>;
  /** What a test may put on the console besides the known noise. */
  allowed: RegExp[];
  /** Everything on the console that should not be there. */
  complaints: string[];
}

/** Known noise: translations, one icon and the monospaced typeface are in Grafana's application, not in its packages. */
const HARMLESS = [/ before i18n /i, /\/public\/fonts\/roboto\//, /\/unicons\/[a-z-]+\.svg/];

/**
 * One context for all tests of a worker, with a profile on disk: in memory, the browser keeps no file as large as the host's
 * script, and would load and compile it for each page. Each test has a page of its own, and nothing that another one has
 * stored.
 */
export const test = base.extend<Fixtures, { shared: BrowserContext }>({
  shared: [
    async ({ playwright }, use, { project: { use: options } }) => {
      const profile = await mkdtemp(join(tmpdir(), 'llmbench-browser-'));
      const context = await playwright.chromium.launchPersistentContext(profile, {
        ...options.launchOptions,
        viewport: options.viewport ?? null,
      });
      await use(context);
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
    { scope: 'worker' },
  ],
  context: async ({ shared }, use) => {
    await use(shared);
    // The first page is the browser's own and keeps it open.
    for (const page of shared.pages().slice(1)) {
      const storage = await shared.newCDPSession(page);
      const origin = new URL(page.url()).origin;
      await storage.send('Storage.clearDataForOrigin', { origin, storageTypes: 'local_storage,indexeddb' });
      await page.close();
    }
    await shared.clearCookies();
    await shared.clearPermissions();
  },
  environment: async ({}, use, info) => {
    const skip = process.env['LLMBENCH_E2E_SKIP'];
    info.skip(skip !== undefined, skip ?? '');
    await use(JSON.parse(process.env['LLMBENCH_E2E'] ?? '{}'));
  },
  allowed: [[], { option: true }],
  complaints: [
    async ({ page, allowed }, use) => {
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(`page error: ${error.stack ?? error.message}`));
      page.on('console', (message) => {
        const text = `${message.type()}: ${message.text()} ${message.location().url}`;
        const isKnown = [...HARMLESS, ...allowed].some((known) => known.test(text));
        if (['error', 'warning'].includes(message.type()) && !isKnown) {
          complaints.push(text);
        }
      });
      await use(complaints);
      expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
  open: async ({ page, environment }, use) => {
    await use(async (parameters) => {
      const range = { from: environment.fromMs, to: environment.toMs, step: 1 };
      await page.goto(hostUrl(environment.hostUrl, { ...range, ...parameters }));
    });
  },
  openApp: async ({ page, environment }, use) => {
    await use((path, parameters = {}) => openPage(page, environment.appUrl, path, parameters));
  },
  openJudged: async ({ page, environment }, use) => {
    await use((path, parameters = {}) => openPage(page, environment.judgedUrl, path, parameters));
  },
  openStaged: async ({ page, environment }, use) => {
    await use((path, parameters = {}) => openPage(page, environment.stagedUrl, path, parameters));
  },
  openNative: async ({ page, environment }, use) => {
    await use((path, parameters = {}) => openPage(page, environment.nativeUrl, path, parameters));
  },
});

async function openPage(page: Page, host: string, path: string, parameters: PageParameters): Promise<void> {
  await page.goto(`${host}/a/llmbench-observability-app/${path}${new URL(hostUrl(host, parameters)).search}`);
}

export { expect };
