import { expect, test } from '@playwright/test';

const APP = '/a/llmbench-observability-app';
const rows = '[aria-label="Runs"] tbody tr';

test.beforeEach(({ page }, info) => {
  page.on('pageerror', (error) => info.annotations.push({ type: 'page error', description: error.message }));
});
test.afterEach(({}, info) => {
  expect(info.annotations.filter(({ type }) => type === 'page error')).toEqual([]);
});

test('the app and its plugins are loaded', async ({ request }) => {
  for (const id of ['llmbench-observability-app', 'llmbench-percentiles-panel', 'llmbench-runs-datasource']) {
    const answer = await request.get(`/api/plugins/${id}/settings`);
    expect([id, answer.status()]).toEqual([id, 200]);
  }
  expect((await (await request.get('/api/plugins/llmbench-observability-app/settings')).json()).enabled).toBe(true);
});

test('the dashboards are provisioned', async ({ request }) => {
  const found: Array<{ uid: string }> = await (await request.get('/api/search?type=dash-db&query=LLM')).json();
  const uids = found.map(({ uid }) => uid);
  expect(uids).toEqual(expect.arrayContaining(['llmbench-benchmark', 'llmbench-vllm', 'llmbench-benchmark-app']));
});

test('the data source answers', async ({ page }) => {
  await page.goto('/connections/datasources/edit/llmbench-runs');
  await page.getByRole('button', { name: /^(Save & test|Test)$/ }).click();
  await expect(page.getByText(/^Connected to llmbench/)).toBeVisible();
});

test('runs, a run and its panels', async ({ page }) => {
  await page.goto(`${APP}/runs?status=completed`);
  await expect(page.locator(rows)).not.toHaveCount(0);
  await page.screenshot({ path: 'screenshots/grafana-runs.png' });
  await page.locator(rows).first().getByRole('link').click();
  await expect(page.getByRole('group', { name: 'Time to first token p99' })).toContainText(/s/);
  await expect(page.getByTestId('percentiles chart').first()).toBeVisible();
  await expect(page.getByRole('region', { name: 'Where the time goes' })).toBeVisible();
  await page.screenshot({ path: 'screenshots/grafana-run.png', fullPage: true });
});

test('two runs over each other', async ({ page, request }) => {
  const api = '/api/datasources/proxy/uid/llmbench-runs/api/v1/runs?status=completed&limit=2';
  const { runs }: { runs: Array<{ run_id: string }> } = await (await request.get(api)).json();
  await page.goto(`${APP}/overlay?${runs.map(({ run_id }) => `run=${run_id}`).join('&')}`);
  await expect(page.getByRole('heading', { name: 'Load as achieved' })).toBeVisible();
  await expect(page.getByRole('img', { name: /^Distribution functions/ })).toBeVisible();
  await page.screenshot({ path: 'screenshots/grafana-overlay.png' });
});

test('servers and setup ask Prometheus', async ({ page }) => {
  await page.goto(`${APP}/servers?from=now-24h&to=now`);
  await expect(page.getByText(/scraped now/).first()).toBeVisible();
  await page.goto(`${APP}/setup`);
  await expect(page.getByText(/runs in the last day/).first()).toBeVisible();
  await page.screenshot({ path: 'screenshots/grafana-setup.png' });
});

test("a panel's menu and Explore lead to the runs in the time range", async ({ page }) => {
  await page.goto('/d/llmbench-benchmark?from=now-24h&to=now');
  const panel = page.getByTestId(/Panel header Output tokens/).first();
  await panel.hover();
  await panel.getByRole('button', { name: /^Menu for panel/ }).click();
  await page.getByText('Extensions').hover();
  await page.getByText('Benchmark runs', { exact: true }).click();
  await expect(page).toHaveURL(/\/runs\?.*inRange=true/);
  await page.goto('/explore');
  await expect(page.getByRole('button', { name: 'Add query' })).toBeVisible();
  // The bar above has a button of that name too, without a text.
  await page.getByRole('button', { name: 'Add', exact: true }).filter({ hasText: 'Add' }).click();
  await page.getByText('Benchmark runs', { exact: true }).click();
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Open', exact: true })).toBeVisible();
});
