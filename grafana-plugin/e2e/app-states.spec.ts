import plugin from '../src/plugin.json' with { type: 'json' };
import { expectNoAxeFindings } from './support/axe.ts';
import { expect, test } from './support/environment.ts';

/** What each page shows to a viewer, who may change nothing. */
const VIEWED: Array<[path: string, parameters: Record<string, string>, shown: RegExp]> = [
  ['overview', {}, /^Needs attention$/],
  ['runs', {}, /^\d+ runs and groups$/],
  ['runs/after-3', {}, /Regressed: time to first token p50/],
  ['compare', { a: 'tag:before', b: 'tag:after' }, /Regressed: time to first token p50/],
  ['trends', { scenario: 'release' }, /^Baseline: 20 accepted runs/],
  ['sweeps', {}, /^Throughput and latency$/],
  ['alerts', {}, /^Firing and pending$/],
  ['servers', {}, /^\d of \d up$/],
  ['buckets', {}, /^Bounds that halve the intervals$/],
  ['setup', {}, /^llmbench .* finished runs/],
];

/** The pages in the menu of Grafana. */
const MENU = (plugin.includes as Array<{ type: string; name: string; addToNav?: boolean }>).flatMap(
  ({ type, name, addToNav }) => (type === 'page' && addToNav ? [name] : [])
);

for (const [path, parameters, shown] of VIEWED) {
  test(`${path}: in the menu and the breadcrumb; a viewer sees what an editor sees, and nothing that changes it`, async ({
    page,
    openJudged,
  }) => {
    await openJudged(path, { ...parameters, role: 'Viewer' });
    await expect(page.getByText(shown).first()).toBeVisible();
    const title = path.charAt(0).toUpperCase() + path.replace(/\/.*/, '').slice(1);
    await expect(page.getByRole('navigation', { name: 'Breadcrumbs' })).toContainText(new RegExp(`^${title}`));
    expect(MENU).toContain(title);
    await expect(page.getByRole('button', { name: /^(Change baseline|Accept|Pin|Drop)/ })).toHaveCount(0);
    await expect(page.getByRole('alert').filter({ hasText: /role|permission|denied/i })).toHaveCount(0);
  });
}

test.describe('without the exporter', () => {
  // What axe puts into the page meets the loader of the host.
  test.use({ allowed: [/named-register/] });

  for (const [path, hint] of [
    ['trends', 'Trends require the data source "llmbench runs"'],
    ['compare', 'Comparing runs requires the data source'],
  ] as const) {
    test(`${path}: what is missing and why, with a link to the setup`, async ({ page, openApp }) => {
      await openApp(path, { without: 'llmbench-runs' });
      await expect(page.getByText(hint)).toBeVisible();
      await expectNoAxeFindings(page);
      await page.getByRole('link', { name: 'Set up' }).click();
      await expect(page.getByRole('heading', { name: 'Setup' })).toBeVisible();
    });
  }

  test('sweeps: of the runs in Prometheus, and what that lacks', async ({ page, openApp }) => {
    await openApp('sweeps', { without: 'llmbench-runs' });
    await expect(page.getByText('Sweeps of the runs in Prometheus, last 24 hours')).toBeVisible();
    await expect(page.getByRole('link', { name: 'Set up' })).toHaveAttribute('href', /\/setup/);
    // The two finished runs differ in nothing but their load.
    const latency = page.getByRole('region', { name: 'Throughput and latency' });
    await expect(latency.locator('[data-load]')).toHaveCount(2);
    await expect(page.getByRole('group', { name: /^Steps of/ }).getByRole('row')).toHaveCount(3);
    await expectNoAxeFindings(page);
  });

  test('servers: all of it is from Prometheus', async ({ page, openApp }) => {
    await openApp('servers', { without: 'llmbench-runs' });
    await expect(page.getByRole('region', { name: 'vLLM', exact: true }).getByText('up').first()).toBeVisible();
  });

  test('setup: the exporter is missing, Prometheus is there', async ({ page, openApp }) => {
    await openApp('setup', { without: 'llmbench-runs' });
    await expect(page.getByText(/llmbench is scraped\..*Servers: vLLM/)).toBeVisible();
    await expectNoAxeFindings(page);
  });
});

test('servers: none in the time range', async ({ page, openApp }) => {
  await openApp('servers', { from: Date.UTC(2020, 0, 1), to: Date.UTC(2020, 0, 2) });
  await expect(page.getByText('Prometheus scraped no known inference server in this time range')).toBeVisible();
  await expect(page.getByRole('link', { name: 'How to scrape servers' })).toHaveAttribute('href', /\/setup/);
});

test('trends: one run', async ({ page, openJudged }) => {
  await page.route('**/llmbench-runs/api/v1/scenarios/changing**', async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    await route.fulfill({ response, json: { ...answer, runs: answer.runs.slice(0, 1), total_runs: 1 } });
  });
  await openJudged('trends', { scenario: 'changing' });
  const ttft = page.getByRole('region', { name: 'Time to first token p50' });
  await expect(ttft.locator('[data-run]')).toHaveCount(1);
  await expect(page.getByRole('group', { name: 'Runs of the scenario' }).getByRole('row')).toHaveCount(2);
});

test('sweeps: one load', async ({ page, openJudged }) => {
  await page.route('**/llmbench-runs/api/v1/sweeps/*', async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    await route.fulfill({ response, json: { ...answer, steps: answer.steps.slice(0, 1), knee: null } });
  });
  await openJudged('sweeps');
  const latency = page.getByRole('region', { name: 'Throughput and latency' });
  // One of each of the three sweeps.
  await expect(latency.locator('[data-load]')).toHaveCount(3);
  await expect(latency.locator('[data-mark="knee"]')).toHaveCount(0);
});

test.describe('with errors', () => {
  test.use({ allowed: [/Failed to load resource/] });

  test('setup: an exporter that is down', async ({ page, openApp }) => {
    await page.route('**/api/datasources/proxy/uid/llmbench-runs/**', (route) =>
      route.fulfill({ status: 502, json: { message: '' } })
    );
    await openApp('setup');
    await expect(page.getByText(/Grafana cannot reach the exporter/)).toBeVisible();
    await expect(page.getByText(/llmbench is scraped\..*Servers: vLLM/)).toBeVisible();
  });

  test('the run: an exporter that is down, and comes back', async ({ page, openApp, environment }) => {
    const EXPORTER = '**/api/datasources/proxy/uid/llmbench-runs/**';
    await page.route(EXPORTER, (route) => route.fulfill({ status: 502, json: { message: '' } }));
    await openApp(`runs/${environment.finished[1]}`);
    await expect(page.getByText(/Grafana cannot reach the exporter/).first()).toBeVisible();
    await page.unroute(EXPORTER);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('group', { name: 'Time to first token p99' })).toContainText(/\d ms/);
  });
});
