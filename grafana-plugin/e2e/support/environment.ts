import { test as base } from '@playwright/test';
import { hostUrl, type PageParameters } from '../../host/page-url.ts';

export interface Environment {
  hostUrl: string;
  prometheusUrl: string;
  fromMs: number;
  toMs: number;
}

interface Fixtures {
  environment: Environment;
  /** Opens the host page over the time range of the test data. */
  open: (parameters: PageParameters) => Promise<void>;
  /** Everything on the console that should not be there. */
  complaints: string[];
}

/** Known noise: translations, one icon and the monospaced typeface are in Grafana's application, not in its packages. */
const HARMLESS = [/ before i18n /i, /\/public\/fonts\/roboto\//, /\/unicons\/spinner\.svg/];

export const test = base.extend<Fixtures>({
  environment: async ({}, use, info) => {
    const skip = process.env['LLMBENCH_E2E_SKIP'];
    info.skip(skip !== undefined, skip ?? '');
    await use(JSON.parse(process.env['LLMBENCH_E2E'] ?? '{}'));
  },
  complaints: [
    async ({ page }, use) => {
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(`page error: ${error.stack ?? error.message}`));
      page.on('console', (message) => {
        const text = `${message.type()}: ${message.text()} ${message.location().url}`;
        if (['error', 'warning'].includes(message.type()) && !HARMLESS.some((known) => known.test(text))) {
          complaints.push(text);
        }
      });
      await use(complaints);
      base.expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
  open: async ({ page, environment }, use) => {
    await use(async (parameters) => {
      const range = { from: environment.fromMs, to: environment.toMs, step: 1 };
      await page.goto(hostUrl(environment.hostUrl, { ...range, ...parameters }));
    });
  },
});

export { expect } from '@playwright/test';
