import { expectNoAxeFindings } from './support/axe.ts';
import { expect, test } from './support/environment.ts';
import { expectNoOverflow } from './support/overflow.ts';
import { keepPicture } from './support/picture.ts';

const PAGES = ['runs', 'run', 'compare', 'servers', 'buckets', 'setup'] as const;
const READY: Record<(typeof PAGES)[number], RegExp> = {
  runs: /^3 runs$/,
  run: /^Where the time goes$/,
  compare: /^Achieved load$/,
  servers: /^\d of \d up$/,
  buckets: /^Bounds that halve the intervals$/,
  setup: /^llmbench .* finished runs/,
};

test('an unknown URL is reported and links to the runs', async ({ page, openApp }) => {
  await openApp('run/of-old');
  await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible();
  await expectNoOverflow(page, 1024);
  await page.getByRole('link', { name: 'All runs' }).click();
  await expect(page.getByText(READY.runs)).toBeVisible();
});

test('servers: a section per system with its state and a link to its dashboard', async ({ page, openApp }) => {
  await openApp('servers');
  const vllm = page.getByRole('region', { name: 'vLLM', exact: true });
  // One server, which two jobs scrape.
  const scraped = vllm.getByRole('row').filter({ hasText: 'llmbench-server' });
  await expect(scraped).toHaveCount(1);
  // The headings say what is counted.
  await expect(scraped.getByRole('cell').nth(3)).toHaveText(/^\d+$/);
  await expect(vllm.getByText(/^(\S+, vllm|vllm, \S+)$/)).toBeVisible();
  await expect(vllm.getByText('up', { exact: true }).first()).toBeVisible();
  await expect(vllm.getByRole('link', { name: 'Dashboard' })).toHaveAttribute('href', /\/d\/llmbench-vllm\?/);
  await keepPicture(page, 'servers');
});

test("servers: between runs when and in which run each was seen last, and a frontend's workers below it", async ({
  page,
  openStaged,
}) => {
  await openStaged('servers');
  const dynamo = page.getByRole('region', { name: 'Dynamo', exact: true }).locator('tbody tr');
  await expect(dynamo).toHaveCount(3);
  await expect(dynamo.first()).not.toContainText('vLLM worker');
  for (const place of [0, 1, 2]) {
    await expect(dynamo.nth(place)).toContainText(/last seen .*in run ?frontend-and-workers/);
  }
  for (const worker of [dynamo.nth(1), dynamo.nth(2)]) {
    await expect(worker).toContainText('vLLM worker');
  }
  // Of the other runs, among them two-models, whose server has another address.
  const vllm = page.getByRole('region', { name: 'vLLM', exact: true }).locator('tbody tr');
  await expect(vllm).toHaveCount(2);
  await expect(vllm.filter({ hasText: 'frontend-and-workers' })).toHaveCount(0);
  await dynamo.nth(1).getByRole('link', { name: 'frontend-and-workers' }).click();
  await expect(page).toHaveURL(/\/runs\/frontend-and-workers/);
});

test('setup: connection tests and configuration snippets', async ({ page, openApp }) => {
  await openApp('setup');
  await expect(page.getByText(/llmbench is scraped\..*Servers: vLLM/)).toBeVisible();
  await expect(page.getByText(/2 finished runs, 1 running/)).toBeVisible();
  await expect(page.getByText(/http_sd_configs/)).toBeVisible();
  await expect(page.getByRole('link', { name: 'Add data source' })).toHaveCount(2);
  await keepPicture(page, 'setup', { fullPage: true });
});

test('setup: snippets have the address of the data source; only who may adds another', async ({ page, openApp }) => {
  await page.route('**/api/datasources/uid/llmbench-runs', (route) =>
    route.fulfill({ json: { url: 'http://bench.example.org:9470' } })
  );
  await openApp('setup', { role: 'Viewer' });
  await expect(page.getByText(/http:\/\/bench\.example\.org:9470\/sd/)).toBeVisible();
  await expect(page.getByRole('link', { name: 'Add data source' })).toHaveCount(0);
});

test.describe('on every page', () => {
  // What axe puts into the page meets the loader of the host.
  test.use({ allowed: [/named-register/] });

  for (const theme of ['dark', 'light']) {
    for (const name of PAGES) {
      test(`${name}, ${theme}: nothing overflows from 1024 px up, and axe finds nothing`, async ({
        page,
        openApp,
        environment,
      }) => {
        const path = name === 'run' ? `runs/${environment.finished[1]}` : name;
        await openApp(path, {
          theme,
          ...(name === 'compare' && { a: environment.finished[0], b: environment.finished[1] }),
        });
        await expect(page.getByText(READY[name]).first()).toBeVisible();
        await page.waitForLoadState('networkidle');
        for (const width of [1024, 1600]) {
          await expectNoOverflow(page, width);
          await keepPicture(page, `${name}-${theme}-${width}`, { fullPage: true });
        }
        await expectNoAxeFindings(page);
      });
    }
  }
});
