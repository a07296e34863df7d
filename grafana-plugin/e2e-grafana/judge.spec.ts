import { expect, request as newRequest, type APIRequestContext, type Page } from '@playwright/test';
import { newestRuns, test } from './grafana.ts';

const PLUGIN_ID = 'llmbench-observability-app';
const EXPORTER = '/api/datasources/proxy/uid/llmbench-runs/api/v1';
const keep = (page: Page, name: string) => page.screenshot({ path: `screenshots/grafana-${name}.png`, fullPage: true });

interface Scenario {
  scenario: string;
  open_regression: { run_ids: string[]; baseline_run_ids: string[] } | null;
}

async function scenarios(request: APIRequestContext): Promise<Scenario[]> {
  const response: { scenarios: Scenario[] } = await (await request.get(`${EXPORTER}/scenarios`)).json();
  return response.scenarios;
}

/** The scenario whose regression is open. */
async function regressed(request: APIRequestContext) {
  const found = (await scenarios(request)).find(({ open_regression: open }) => open !== null);
  if (!found?.open_regression) {
    throw new Error('no scenario has an open regression: run llmbench check on runs that regressed');
  }
  return { scenario: found.scenario, ...found.open_regression };
}

test('the history of a scenario', async ({ gotoAppPage, page, request }) => {
  const { scenario } = await regressed(request);
  await gotoAppPage({ pluginId: PLUGIN_ID, path: `trends?scenario=${encodeURIComponent(scenario)}` });
  await expect(page.getByRole('alert').filter({ hasText: 'Regressed since' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Time to first token p50' }).locator('[data-run]')).not.toHaveCount(0);
  // The tests sign in as somebody who may edit.
  await expect(page.getByRole('button', { name: 'Accept these runs' })).toBeVisible();
  await keep(page, 'trends');
});

test('judged runs have their verdict in the list', async ({ gotoAppPage, page }) => {
  await gotoAppPage({ pluginId: PLUGIN_ID, path: 'runs?verdict=regressed' });
  await expect(page.locator('[aria-label="Runs"] tbody tr').first()).toContainText('regressed');
  await keep(page, 'runs-verdict');
});

test('an alert on the regression fires, and leads to the comparison', async ({ gotoAppPage, page, request }) => {
  // Rules are evaluated every few seconds, and Grafana notices its own after a while.
  test.setTimeout(240_000);
  const { scenario, baseline_run_ids: baseline } = await regressed(request);
  const alert = page.getByRole('listitem').filter({ hasText: `Scenario ${scenario} has regressed` });
  await expect(async () => {
    await gotoAppPage({ pluginId: PLUGIN_ID, path: 'alerts' });
    await expect(alert.first()).toContainText('firing', { timeout: 10_000 });
  }).toPass({ timeout: 180_000 });
  await keep(page, 'alerts');
  await page.getByRole('button', { name: 'Runbook of LlmScenarioRegressed' }).first().click();
  await expect(page.getByRole('dialog').getByRole('heading', { name: 'Mitigation' })).toBeVisible();
  await keep(page, 'alerts-runbook');
  await page.keyboard.press('Escape');
  await alert.first().getByRole('link', { name: 'Compare with the baseline' }).click();
  await expect(page).toHaveURL(new RegExp(`compare\\?.*a=${baseline[0] ?? ''}`));
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('regressed');
  await keep(page, 'compare-verdict');
});

test('Grafana lets only editors change a baseline', async ({ request, baseURL, page, gotoAppPage }) => {
  const [run] = await newestRuns(request, 1);
  const { scenario } = await regressed(request);
  const login = `viewer-${run?.run_id ?? ''}-${Date.now()}`.slice(0, 60);
  const created = await request.post('/api/admin/users', { data: { login, password: login, name: login, OrgId: 1 } });
  expect(created.status()).toBe(200);
  const { id } = await created.json();
  const credentials = Buffer.from(`${login}:${login}`).toString('base64');
  const viewer = await newRequest.newContext({ baseURL, extraHTTPHeaders: { authorization: `Basic ${credentials}` } });
  try {
    await request.patch(`/api/org/users/${id}`, { data: { role: 'Viewer' } });
    // It can read …
    expect((await viewer.get(`${EXPORTER}/scenarios`)).status()).toBe(200);
    // … and is stopped by Grafana however the path is written, before the exporter has looked at the body.
    const path = `scenarios/${encodeURIComponent(scenario)}/baseline`;
    for (const spelled of [`${EXPORTER}/${path}`, `${EXPORTER}//${path}`]) {
      const response = await viewer.post(spelled, { data: {} });
      expect([spelled, response.status(), (await response.json()).message]).toEqual([
        spelled,
        403,
        'plugin proxy route access denied',
      ]);
    }
    for (const spelled of ['/API/v1', '/%61pi/v1', '/api%2Fv1']) {
      const url = `${EXPORTER.replace('/api/v1', spelled)}/${path}`;
      expect([url, (await viewer.post(url, { data: {} })).ok()]).toEqual([url, false]);
    }
    const editors = await (await request.post(`${EXPORTER}/${path}`, { data: {} })).json();
    // The exporter's own refusal: of the empty body, or of changes as such.
    expect(editors.detail).toMatch(/action|changes over HTTP are not allowed/);
  } finally {
    await viewer.dispose();
    await request.delete(`/api/admin/users/${id}`);
  }
  await gotoAppPage({ pluginId: PLUGIN_ID, path: 'setup' });
  await expect(page.getByText(/baselines?/i).first()).toBeVisible();
});
