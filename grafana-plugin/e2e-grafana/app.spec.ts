import { expect, type Page } from '@playwright/test';
import { newestRuns, newestSweep, newestTime, test } from './grafana.ts';

const PLUGIN_ID = 'llmbench-observability-app';
const rows = '[aria-label="Runs"] tbody tr';
const keep = (page: Page, name: string) => page.screenshot({ path: `screenshots/grafana-${name}.png`, fullPage: true });

test('the app and its plugins are loaded', async ({ request }) => {
  for (const id of [PLUGIN_ID, 'llmbench-percentiles-panel', 'llmbench-runs-datasource']) {
    const response = await request.get(`/api/plugins/${id}/settings`);
    expect([id, response.status()]).toEqual([id, 200]);
  }
  expect((await (await request.get(`/api/plugins/${PLUGIN_ID}/settings`)).json()).enabled).toBe(true);
});

test('the data source answers', async ({ gotoDataSourceConfigPage, page }) => {
  await gotoDataSourceConfigPage('llmbench-runs');
  await page.getByRole('button', { name: /^(Save & test|Test)$/ }).click();
  await expect(page.getByText(/^Connected to llmbench/)).toBeVisible();
});

test('runs, a run and its panels', async ({ gotoAppPage, page }) => {
  await gotoAppPage({ pluginId: PLUGIN_ID, path: 'runs?status=completed' });
  await expect(page.locator(rows)).not.toHaveCount(0);
  await keep(page, 'runs');
  await page.locator(rows).first().getByRole('link').click();
  await expect(page.getByRole('group', { name: 'Time to first token p99' })).toContainText(/s/);
  await expect(page.getByTestId('percentiles chart').first()).toBeVisible();
  await expect(page.getByRole('region', { name: 'Where the time goes' })).toBeVisible();
  await keep(page, 'run');
});

test('a comparison of two runs', async ({ gotoAppPage, page, request }) => {
  const runs = await newestRuns(request, 2);
  await gotoAppPage({
    pluginId: PLUGIN_ID,
    path: `compare?${runs.map(({ run_id }, i) => `${'ab'.charAt(i)}=${run_id}`).join('&')}`,
  });
  await expect(page.getByRole('region', { name: 'Verdict' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Achieved load' })).toBeVisible();
  await expect(page.getByRole('img', { name: /^Distribution functions/ })).toBeVisible();
  await keep(page, 'compare');
});

test('a sweep as curves, of which a point opens its run', async ({ gotoAppPage, page, request }) => {
  const sweep = await newestSweep(request);
  await gotoAppPage({ pluginId: PLUGIN_ID, path: `sweeps?sweep=${encodeURIComponent(sweep)}` });
  const latency = page.getByRole('region', { name: 'Throughput and latency' });
  await expect(latency.locator('[data-load]').first()).toBeVisible();
  await expect(page.getByRole('group', { name: /^Steps of/ })).toBeVisible();
  await keep(page, 'sweeps');
  await latency.locator('[data-load]').first().click();
  await expect(page).toHaveURL(/\/runs\/[^?]/);
});

test('the buckets of the server of the newest run', async ({ gotoAppPage, page, request }) => {
  const { from, to } = await newestTime(request);
  await gotoAppPage({ pluginId: PLUGIN_ID, path: `buckets?from=${from}&to=${to}` });
  await expect(page.getByRole('region', { name: 'Bounds that halve the intervals' })).toBeVisible();
  await expect(page.getByRole('row', { name: /^p99 .* – / }).first()).toBeVisible();
  await keep(page, 'buckets');
});

test('servers and setup query Prometheus', async ({ gotoAppPage, page }) => {
  await gotoAppPage({ pluginId: PLUGIN_ID, path: 'servers?from=now-24h&to=now' });
  await expect(page.getByText(/\d of \d+ up/).first()).toBeVisible();
  await keep(page, 'servers');
  await gotoAppPage({ pluginId: PLUGIN_ID, path: 'setup' });
  await expect(page.getByText(/runs in the last day/).first()).toBeVisible();
  await keep(page, 'setup');
});

test("a panel's menu and Explore lead to the runs in the time range", async ({
  gotoDashboardPage,
  explorePage,
  page,
  request,
}) => {
  const dashboard = await gotoDashboardPage({ uid: 'llmbench-benchmark', timeRange: await newestTime(request) });
  await dashboard.getPanelByTitle('Output tokens').scrollIntoView();
  await dashboard.getPanelByTitle('Output tokens').clickOnMenuItem('Benchmark runs', { parentItem: 'Extensions' });
  await expect(page).toHaveURL(/\/runs\?.*inRange=true/);
  await explorePage.goto();
  await expect(page.getByRole('button', { name: 'Add query' })).toBeVisible();
  // The bar above has a button of that name too, without a text.
  await page.getByRole('button', { name: 'Add', exact: true }).filter({ hasText: 'Add' }).click();
  await page.getByText('Benchmark runs', { exact: true }).click();
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Open', exact: true })).toBeVisible();
});
