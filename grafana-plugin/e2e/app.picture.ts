import type { Locator, Page } from '@playwright/test';
import { fileURLToPath } from 'node:url';
import { expect, test } from './support/environment.ts';

// Taken on request only (npm run screenshot), from runs of the simulator.
const VIEWPORT = { width: 1440, height: 900 };
/** A file must not be larger than a plugin's picture may be. */
const LOWER = { width: 1440, height: 800 };

/** The pictures of the plugin, of the data that the simulator made: the page, and what it shows when it is complete. */
const PAGES: ReadonlyArray<[name: string, isComplete: (page: Page) => Locator]> = [
  ['runs', (page) => page.getByText('running', { exact: true }).first()],
  ['run', charts],
  ['servers', (page) => page.getByText(/^\d of \d up$/)],
  ['buckets', (page) => page.getByText('Bounds that halve the intervals')],
];

for (const [name, isComplete] of PAGES) {
  test(`the picture of the page ${name}`, async ({ page, openApp, environment }) => {
    await page.setViewportSize(VIEWPORT);
    await openApp(name === 'run' ? `runs/${environment.finished.at(-1)}` : name);
    await take(page, isComplete(page), `src/img/screenshot-${name}.png`);
  });
}

test('the picture of the guide', async ({ page, openApp, environment }) => {
  await page.setViewportSize({ width: 1600, height: 1140 });
  await openApp(`runs/${environment.finished.at(-1)}`);
  await take(page, charts(page), '../docs/images/run.png');
});

test('the picture of the page overview', async ({ page, openJudged }) => {
  await page.setViewportSize({ width: 1440, height: 760 });
  await openJudged('overview');
  await take(
    page,
    page.getByRole('group', { name: 'Newest completed run of each scenario' }),
    'src/img/screenshot-overview.png'
  );
});

test('the picture of the page compare', async ({ page, openJudged }) => {
  await page.setViewportSize(LOWER);
  await openJudged('compare', { a: 'tag:before', b: 'tag:after' });
  await take(page, page.getByText('regressed', { exact: true }).first(), 'src/img/screenshot-compare.png');
});

test('the picture of the page trends', async ({ page, openJudged }) => {
  await page.setViewportSize(VIEWPORT);
  await openJudged('trends', { scenario: 'release' });
  await take(page, page.locator('[data-run]').first(), 'src/img/screenshot-trends.png');
});

test('the picture of the page sweeps', async ({ page, openJudged }) => {
  await page.setViewportSize(LOWER);
  await openJudged('sweeps');
  const response = await page.request.get(
    `${new URL(page.url()).origin}/api/datasources/proxy/uid/llmbench-runs/api/v1/sweeps`
  );
  const { sweeps } = await response.json();
  const url = new URL(page.url());
  for (const { sweep_id } of sweeps) {
    url.searchParams.append('sweep', sweep_id);
  }
  url.searchParams.set('gpus', '4');
  await page.goto(url.href);
  await take(page, page.locator('[data-load]').first(), 'src/img/screenshot-sweeps.png');
});

test('the picture of the page alerts', async ({ page, openJudged }) => {
  await page.setViewportSize({ width: 1440, height: 720 });
  await openJudged('alerts');
  await take(page, page.getByText('Scenario release has regressed'), 'src/img/screenshot-alerts.png');
});

/** Both panels of a run. */
function charts(page: Page): Locator {
  return page.getByTestId('percentiles chart').nth(1);
}

/** Waits until the page is complete: on a busy machine the network is idle before the plugin is loaded. */
async function take(page: Page, complete: Locator, path: string): Promise<void> {
  await expect(complete).toBeVisible();
  await page.waitForLoadState('networkidle');
  await expect(page.getByText(/^Loading .*…$/)).toHaveCount(0);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: fileURLToPath(new URL(`../${path}`, import.meta.url)) });
}
