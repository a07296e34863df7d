import type { Page } from '@playwright/test';
import { expect, test } from './support/environment.ts';
import { fromCounters, fromRates, histograms } from './support/expected-legend.ts';
import { legendHeadings, legendRows } from './support/legend.ts';
import { keepPicture } from './support/picture.ts';

const BUCKETS = 'llmbench_time_to_first_token_seconds_bucket';
const STEADY = `${BUCKETS}{run_id="steady"}`;
const OVERLOADED = `${BUCKETS}{run_id="overloaded"}`;
const RATES = `sum by (le) (rate(${STEADY}[4s]))`;
const QUANTILES = [0.5, 0.9, 0.99];

const chart = (page: Page) => page.getByTestId('percentiles chart');
const path = (page: Page, percentile: string, part: string) =>
  page.locator(`[data-percentile="${percentile}"] [data-part="${part}"]`);
const keep = (page: Page, name: string) => keepPicture(page, name);

test('raw counters: the legend shows what core computes from the same samples', async ({ page, open, environment }) => {
  await open({ query: STEADY });
  const { rows, n } = fromCounters(await histograms({ ...environment, query: STEADY }), QUANTILES);
  const legend = await legendRows(page);
  expect(legend.map(({ name }) => name)).toEqual(['p50', 'p90', 'p99']);
  expect(legend.map(({ estimate, low, high }) => ({ estimate, low, high }))).toEqual(rows);
  expect(legend.map(({ texts }) => texts[3])).toEqual([`${n}`, `${n}`, `${n}`]);
  expect(await legendHeadings(page)).toEqual(['Whole range', 'Estimate', 'Bounds', 'n']);
  await keep(page, 'raw-counters');
});

test('the interval is drawn between its bounds, and the line within it', async ({ page, open }) => {
  await open({ query: STEADY });
  for (const percentile of ['p50', 'p90', 'p99']) {
    const band = await path(page, percentile, 'band').boundingBox();
    const line = await path(page, percentile, 'line').boundingBox();
    expect(band && line).toBeTruthy();
    expect(band?.height).toBeGreaterThan(5);
    expect(line?.y).toBeGreaterThanOrEqual((band?.y ?? 0) - 1);
    expect((line?.y ?? 0) + (line?.height ?? 0)).toBeLessThanOrEqual((band?.y ?? 0) + (band?.height ?? 0) + 1);
  }
  await expect(page.locator('[data-interval="bounds"]')).toHaveCount(3);
});

for (const format of ['time_series', 'heatmap']) {
  test(`rate(), ${format}: the interval is called bucket of the estimate and hatched`, async ({
    page,
    open,
    environment,
  }) => {
    await open({ query: RATES, format });
    const expected = fromRates(await histograms({ ...environment, query: RATES }), QUANTILES);
    const legend = await legendRows(page);
    expect(await legendHeadings(page)).toEqual(['Whole range', 'Estimate', 'Bucket of the estimate']);
    legend.forEach(({ estimate, low, high }, i) => {
      expect(estimate).toBeCloseTo(expected[i]?.estimate ?? NaN, 9);
      expect([low, high]).toEqual([expected[i]?.low, expected[i]?.high]);
    });
    await expect(page.locator('[data-interval="bucket-of-estimate"]')).toHaveCount(3);
    await expect(path(page, 'p99', 'band')).toHaveAttribute('fill', /^url\(#/);
    await expect(page.getByText('not a bound')).toBeVisible();
    await keep(page, `rates-${format}`);
  });
}

test('the overflow bucket: "> 2 s" in the legend, a hatched zone in the drawing', async ({
  page,
  open,
  environment,
}) => {
  await open({ query: OVERLOADED, options: '{"slo":0.5}' });
  const { rows } = fromCounters(await histograms({ ...environment, query: OVERLOADED }), QUANTILES);
  const [, , p99] = await legendRows(page);
  expect(p99).toMatchObject({ estimate: 2, low: 2, high: Infinity });
  expect(rows[2]).toEqual({ estimate: 2, low: 2, high: Infinity });
  expect(p99?.texts.slice(1, 3)).toEqual(['> 2 s', '> 2 s']);
  await expect(path(page, 'p99', 'overflow')).toHaveCount(1);
  await expect(path(page, 'p50', 'overflow')).toHaveCount(0);
  await expect(page.getByText('> 2 s: beyond the last bucket')).toBeVisible();
  await expect(page.getByText('SLO 500 ms')).toBeVisible();
  await keep(page, 'overflow');
});

test('both runs: lines of their own, regions with titles, a gap between them', async ({ page, open }) => {
  await open({ query: BUCKETS });
  expect((await legendRows(page)).map(({ name }) => name)).toEqual(
    ['overloaded', 'steady'].flatMap((run) => ['p50', 'p90', 'p99'].map((percentile) => `${run} ${percentile}`))
  );
  const steady = page.locator('[data-region="run steady measure"]');
  await expect(steady).toHaveCount(1);
  await expect(page.locator('[data-region="run overloaded measure"]')).toHaveCount(1);
  await expect(chart(page).getByText('run steady measure', { exact: true }).last()).toBeVisible();
  // Scraped once a second, a region and the lines of its run end within two seconds of each other.
  const [region, line] = [
    await steady.locator('rect').first().boundingBox(),
    await path(page, 'steady p50', 'line').boundingBox(),
  ];
  const plot = await page.locator('[data-part="pointer"]').boundingBox();
  const second = (plot?.width ?? 0) / 45;
  const end = (box: typeof region) => (box?.x ?? 0) + (box?.width ?? 0);
  expect(Math.abs(end(region) - end(line))).toBeLessThan(5 * second);
  await keep(page, 'two-runs');
});

test('hovering shows estimate, interval, n and the time that they cover', async ({ page, open }) => {
  await open({ query: STEADY });
  const line = await path(page, 'p50', 'line').boundingBox();
  const plot = await page.locator('[data-part="pointer"]').boundingBox();
  await page.mouse.move((line?.x ?? 0) + (line?.width ?? 0) / 2, (plot?.y ?? 0) + 60);
  const tooltip = page.getByTestId('percentiles tooltip');
  await expect(tooltip).toContainText('run steady measure');
  await expect(tooltip).toContainText(/p50\s*\d+ ms\s*100 ms – 200 ms\s*\(100 ms, 200 ms\]\s*n = \d+/);
  await expect(tooltip).toContainText(/Counted from \d\d:\d\d:\d\d to \d\d:\d\d:\d\d/);
  await keep(page, 'tooltip');
  await page.mouse.move(5, 5);
  await expect(tooltip).toHaveCount(0);
});

test('dragging zooms into that time', async ({ page, open, environment }) => {
  await open({ query: STEADY });
  const plot = await page.locator('[data-part="pointer"]').boundingBox();
  const [left, width, y] = [plot?.x ?? 0, plot?.width ?? 0, (plot?.y ?? 0) + 40];
  await page.mouse.move(left + width * 0.1, y);
  await page.mouse.down();
  await page.mouse.move(left + width * 0.4, y, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL((url) => Number(url.searchParams.get('from')) > environment.fromMs);
  const zoomed = new URL(page.url()).searchParams;
  const share = (name: string) =>
    (Number(zoomed.get(name)) - environment.fromMs) / (environment.toMs - environment.fromMs);
  expect(share('from')).toBeCloseTo(0.1, 2);
  expect(share('to')).toBeCloseTo(0.4, 2);
  await expect(chart(page)).toBeVisible();
});

test('the legend works from the keyboard', async ({ page, open }) => {
  await open({ query: STEADY });
  const button = page.getByRole('button', { name: 'p99' });
  for (let i = 0; i < 10 && !(await button.evaluate((element) => element === document.activeElement)); i++) {
    await page.keyboard.press('Tab');
  }
  await expect(button).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-percentile]')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-percentile]')).toHaveCount(3);
});

test('an instant table: one interval over the whole range', async ({ page, open }) => {
  await open({ query: `sum by (le) (last_over_time(${STEADY}[5m]))`, format: 'table' });
  const [p50] = await legendRows(page);
  expect(p50?.texts[3]).toBe('720');
  expect(await legendHeadings(page)).toContain('Bounds');
  await keep(page, 'instant-table');
});

test('no data, and data that cannot be used', async ({ page, open }) => {
  await open({ query: 'does_not_exist_bucket' });
  await expect(page.getByText('No data')).toBeVisible();
  await open({ query: `sum by (le) (${BUCKETS})` });
  await expect(page.getByText(/Query A: The query sums counters/)).toBeVisible();
  await keep(page, 'unusable');
});

test('built from scratch: a query, a suggestion for its response, and options, by clicking', async ({ page, open }) => {
  await open({ editor: 'true' });
  await page.getByRole('textbox', { name: 'Query' }).fill('up');
  await page.getByRole('button', { name: 'Run queries' }).click();
  await expect(page.getByRole('group', { name: 'Suggestions' }).getByRole('button')).toHaveCount(0);
  await page.getByRole('textbox', { name: 'Query' }).fill(STEADY);
  await page.getByRole('button', { name: 'Run queries' }).click();
  await page.getByRole('button', { name: 'Percentiles over time' }).click();
  await expect(chart(page)).toBeVisible();
  await expect(page.locator('[data-interval="bounds"] [data-part="band"]')).toHaveCount(3);
  const options = page.getByRole('group', { name: 'Options' });
  await options.getByRole('switch', { name: 'Intervals' }).uncheck({ force: true });
  await expect(page.locator('[data-interval="bounds"] [data-part="band"]')).toHaveCount(0);
  await options.getByRole('combobox').first().click();
  await page.getByRole('option', { name: 'p95' }).click();
  await page.keyboard.press('Escape');
  await expect(page.locator('[data-percentile="p95"]').first()).toBeAttached();
  await options.getByRole('spinbutton', { name: 'Service level objective' }).fill('0.5');
  await expect(page.locator('[data-part="slo"]')).toContainText('SLO 500 ms');
  await options.getByRole('radio', { name: 'Whole range' }).check({ force: true });
  await expect(page.locator('[data-part="slo"]')).toContainText(/^SLO 500 ms: /);
  await keep(page, 'panel-from-scratch');
});
