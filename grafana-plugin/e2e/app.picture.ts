import { fileURLToPath } from 'node:url';
import { expect, test } from './support/environment.ts';

// Taken on request only (npm run screenshot), from runs of the simulator.
const VIEWPORT = { width: 1440, height: 900 };

for (const name of ['runs', 'run', 'servers', 'buckets'] as const) {
  test(`the picture of the page ${name}`, async ({ page, openApp, environment }) => {
    const [first, ...others] = environment.finished;
    const newest = others.at(-1) ?? first;
    await page.setViewportSize(VIEWPORT);
    await openApp(name === 'run' ? `runs/${newest}` : name);
    await page.waitForLoadState('networkidle');
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: fileURLToPath(new URL(`../src/img/screenshot-${name}.png`, import.meta.url)) });
  });
}

test('the picture of the guide', async ({ page, openApp, environment }) => {
  await page.setViewportSize({ width: 1600, height: 1140 });
  await openApp(`runs/${environment.finished.at(-1)}`);
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: fileURLToPath(new URL('../../docs/images/run.png', import.meta.url)) });
});

test('the picture of the page compare', async ({ page, openJudged }) => {
  await page.setViewportSize(VIEWPORT);
  await openJudged('compare', { a: 'tag:before', b: 'tag:after' });
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: fileURLToPath(new URL('../src/img/screenshot-compare.png', import.meta.url)) });
});

test('the picture of the page trends', async ({ page, openJudged }) => {
  await page.setViewportSize(VIEWPORT);
  await openJudged('trends', { scenario: 'release' });
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: fileURLToPath(new URL('../src/img/screenshot-trends.png', import.meta.url)) });
});

test('the picture of the page sweeps', async ({ page, openJudged }) => {
  // Higher, the file would be larger than a plugin's picture may be.
  await page.setViewportSize({ ...VIEWPORT, height: 800 });
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
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: fileURLToPath(new URL('../src/img/screenshot-sweeps.png', import.meta.url)) });
});

test('the picture of the page alerts', async ({ page, openJudged }) => {
  await page.setViewportSize({ width: 1440, height: 720 });
  await openJudged('alerts');
  await expect(page.getByText('Scenario release has regressed')).toBeVisible();
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: fileURLToPath(new URL('../src/img/screenshot-alerts.png', import.meta.url)) });
});
