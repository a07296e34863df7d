import { fileURLToPath } from 'node:url';
import { test } from './support/environment.ts';

// Taken on request only (npm run screenshot), from runs of the simulator.
const VIEWPORT = { width: 1440, height: 900 };

for (const name of ['runs', 'run', 'servers'] as const) {
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
