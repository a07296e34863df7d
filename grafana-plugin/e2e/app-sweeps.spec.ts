import type { Page } from '@playwright/test';
import { expectNoAxeFindings } from './support/axe.ts';
import { expect, test } from './support/environment.ts';
import { expectNoOverflow } from './support/overflow.ts';
import { keepPicture } from './support/picture.ts';

const LIST = '**/llmbench-runs/api/v1/sweeps?**';

/** The ids of the sweeps, by the name of their group. */
async function sweepIds(page: Page, groups: readonly string[]): Promise<string[]> {
  const response = await page.request.get(
    `${new URL(page.url()).origin}/api/datasources/proxy/uid/llmbench-runs/api/v1/sweeps`
  );
  const { sweeps } = await response.json();
  return groups.map(
    (group) => sweeps.find(({ source }: { source: { name: string } }) => source.name === group)?.sweep_id
  );
}

/** Shows one sweep, by the name of its group. */
async function showSweep(page: Page, group: string): Promise<void> {
  await expect(page.getByRole('region', { name: 'Throughput and latency' })).toBeVisible();
  const [id = ''] = await sweepIds(page, [group]);
  const url = new URL(page.url());
  url.searchParams.set('sweep', id);
  await page.goto(url.href);
  await expect(page.getByRole('group', { name: /^Steps of/ })).toHaveCount(1);
}

test('all sweeps of the newest scenario are there to begin with', async ({ page, openJudged }) => {
  await openJudged('sweeps');
  await expect(page.getByRole('group', { name: /^Steps of/ })).toHaveCount(3);
  await expect(page.getByRole('region', { name: 'Throughput and latency' }).locator('[data-load]')).toHaveCount(27);
});

test('a sweep: loads, objective, knee and what is missing', async ({ page, openJudged }) => {
  await openJudged('sweeps');
  await showSweep(page, 'sweep-sglang');
  const latency = page.getByRole('region', { name: 'Throughput and latency' });
  await expect(latency.locator('[data-load]')).toHaveCount(9);
  await expect(latency.locator('[data-limit="TTFT p99 ≤ 500 ms"]')).toBeVisible();
  await expect(latency.locator('[data-mark="within-objective"]')).toHaveCount(1);
  await expect(latency.locator('[data-mark="knee"]')).toHaveCount(1);
  const efficiency = page.getByRole('region', { name: 'Tokens/s per user and per GPU' });
  await expect(efficiency).toContainText('do not report the number of GPUs');
  await page.getByLabel('GPUs per sweep').fill('4');
  await page.getByLabel('GPUs per sweep').press('Enter');
  await expect(page).toHaveURL(/gpus=4/);
  await expect(efficiency.locator('[data-load]')).toHaveCount(9);
  await expect(efficiency.locator('[data-drawn="frontier"]')).toHaveCount(1);
  const steps = page.getByRole('group', { name: /^Steps of/ });
  await expect(steps.getByRole('row')).toHaveCount(10);
  // 40 requests have no p99 of their own; 10,240 have.
  const few = 'Too few requests for p99: it is close to the largest value';
  await expect(steps.getByRole('row', { name: /^1 / }).getByLabel(few)).not.toHaveCount(0);
  await expect(steps.getByRole('row', { name: /^256 / }).getByLabel(few)).toHaveCount(0);
});

test('another percentile has its own values and no objective of p99', async ({ page, openJudged }) => {
  await openJudged('sweeps');
  await showSweep(page, 'sweep-sglang');
  const latency = page.getByRole('region', { name: 'Throughput and latency' });
  await expect(latency.locator('[data-limit]')).toHaveCount(1);
  await page.getByRole('radio', { name: 'p50' }).check({ force: true });
  await expect(page).toHaveURL(/percentile=p50/);
  await expect(latency.locator('[data-limit]')).toHaveCount(0);
  await expect(latency).toContainText('p50 of the time to first token');
});

test('a point says its values and opens its run, also from the keyboard', async ({ page, openJudged }) => {
  await openJudged('sweeps');
  await showSweep(page, 'sweep-sglang');
  const point = page.getByRole('region', { name: 'Throughput and latency' }).locator('[data-load="16"]');
  await point.focus();
  await expect(page.getByRole('status').filter({ hasText: 'Load' })).toContainText('16');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/runs\/sglang-16-0/);
});

test('several sweeps are laid over each other, named by what differs', async ({ page, openJudged }) => {
  await openJudged('sweeps');
  await expect(page.getByRole('region', { name: 'Throughput and latency' })).toBeVisible();
  const ids = await sweepIds(page, ['sweep-vllm-old', 'sweep-vllm-new', 'sweep-sglang']);
  const url = new URL(page.url());
  ids.forEach((id) => url.searchParams.append('sweep', id));
  url.searchParams.set('gpus', '4');
  await page.goto(url.href);
  await expect(page.locator('[data-curve="vllm 0.11.0"]').first()).toBeVisible();
  const legend = page.getByRole('list', { name: 'Legend' });
  for (const name of ['vllm 0.11.0', 'vllm 0.12.0', 'sglang 0.5.3']) {
    await expect(legend).toContainText(name);
  }
  const efficiency = page.getByRole('region', { name: 'Tokens/s per user and per GPU' });
  await expect(efficiency.locator('[data-load]')).toHaveCount(27);
  await expect(efficiency.locator('[data-drawn="frontier"]')).toHaveCount(1);
  await keepPicture(page, 'sweeps', { fullPage: true });
});

test('no sweeps yet', async ({ page, openJudged }) => {
  await page.route(LIST, (route) =>
    route.fulfill({ json: { sweeps: [], page: 1, limit: 1000, total: 0, omitted_runs: 0, unreadable_runs: [] } })
  );
  await openJudged('sweeps');
  await expect(page.getByText('No sweeps yet')).toBeVisible();
});

test.describe('with errors', () => {
  test.use({ allowed: [/Failed to load resource/] });

  test('a sweep that no longer exists', async ({ page, openJudged }) => {
    await openJudged('sweeps', { sweep: 'gone' });
    await expect(page.getByText('The sweep could not be loaded')).toBeVisible();
  });

  test('the exporter does not answer', async ({ page, openJudged }) => {
    await page.route(LIST, (route) => route.fulfill({ status: 503, body: '' }));
    await openJudged('sweeps');
    await expect(page.getByText('The sweeps could not be loaded')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
  });
});

test.describe('with axe, which defines a module', () => {
  test.use({ allowed: [/named-register/] });

  for (const theme of ['dark', 'light'] as const) {
    test(`${theme}: nothing overflows from 1024 px up, and axe finds nothing`, async ({ page, openJudged }) => {
      await openJudged('sweeps', { gpus: '4', theme });
      await expect(page.getByRole('group', { name: /^Steps of/ }).first()).toBeVisible();
      await expectNoOverflow(page, 1024);
      await expectNoAxeFindings(page);
      await keepPicture(page, `sweeps-${theme}-1024`, { fullPage: true });
    });
  }
});
