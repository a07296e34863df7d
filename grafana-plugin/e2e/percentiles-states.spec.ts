import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from './support/environment.ts';
import { legendRows } from './support/legend.ts';
import { response, constant, counters, FROM_SECONDS, type Histogram } from './support/percentiles-responses.ts';
import { keepPicture } from './support/picture.ts';

// axe registers itself with the page's module loader, which warns.
test.use({ allowed: [/named-register/] });

const QUERY = 'ttft_seconds_bucket';
const SAMPLES = 180;
const RANGE = { from: FROM_SECONDS * 1000, to: (FROM_SECONDS + SAMPLES) * 1000, step: 1, annotation: '' };

const rising: Histogram = { samples: SAMPLES, perStep: () => 40, median: (row) => 0.12 + 0.2 * (row / SAMPLES) ** 2 };
const keep = (page: Page, name: string) => keepPicture(page, `panel-${name}`);
/** What the panel says; the frame around it has a loading bar of that role, without a text. */
const message = (page: Page) => page.getByRole('status').filter({ hasText: /./ });
const notes = (page: Page) => page.getByTestId('percentiles notes');
const options = (given: object) => JSON.stringify(given);

async function nothingIsCut(page: Page, width: number): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  const svg = await page.locator('svg[role="img"]').boundingBox();
  for (const label of await page.locator('svg[role="img"] text').all()) {
    const box = await label.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual((svg?.x ?? 0) - 1);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual((svg?.x ?? 0) + (svg?.width ?? 0) + 1);
  }
}

async function isAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).include('#root').disableRules(['region']).analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
}

for (const theme of ['dark', 'light']) {
  for (const mode of ['time', 'range']) {
    for (const width of [1024, 1600]) {
      test(`${mode}, ${theme}, ${width} px: nothing is cut, and axe finds nothing`, async ({ page, open }) => {
        await page.setViewportSize({ width, height: 620 });
        await response(page, { [QUERY]: counters(rising) });
        await open({
          ...RANGE,
          query: QUERY,
          theme,
          height: 560,
          options: options({ mode, slo: 0.6, showSampling: true }),
        });
        await legendRows(page);
        await nothingIsCut(page, width);
        await isAccessible(page);
        await keep(page, `${mode}-${theme}-${width}`);
      });
    }
  }
}

test('the whole range: the band is between the counts at the bounds, with the marks on it', async ({ page, open }) => {
  await response(page, { [QUERY]: counters(rising) });
  await open({ ...RANGE, query: QUERY, options: options({ mode: 'range', slo: 0.5 }) });
  const [p50] = await legendRows(page);
  const mark = page.locator('[data-percentile="p50"] circle');
  const plot = await page.locator('[data-part="pointer"]').boundingBox();
  const dot = await mark.boundingBox();
  // Half of the observations: the mark is at half of the drawing's height.
  expect((dot?.y ?? 0) + (dot?.height ?? 0) / 2).toBeCloseTo((plot?.y ?? 0) + (plot?.height ?? 0) / 2, 0);
  expect(p50?.low).toBeLessThanOrEqual(p50?.estimate ?? NaN);
  await expect(page.locator('[data-part="slo"]')).toContainText(/^SLO 500 ms: \d+(\.\d+)? %$/);
  await page.mouse.move((plot?.x ?? 0) + (plot?.width ?? 0) / 2, (plot?.y ?? 0) + 50);
  await expect(page.getByTestId('percentiles tooltip')).toContainText(/^At or below .*n = 7,160$/);
});

test('several series and the exact client values over them', async ({ page, open }) => {
  const exact = (stat: string, value: number) =>
    constant({ __name__: 'llmbench_result_seconds', run_id: 'r1', stat }, value, SAMPLES);
  await response(page, {
    [QUERY]: ['vllm-0', 'vllm-1'].flatMap((instance, i) =>
      counters({ ...rising, labels: { instance }, median: () => 0.1 + 0.06 * i })
    ),
    llmbench_result_seconds: [exact('p50', 0.118), exact('p90', 0.25), exact('p99', 0.61)],
  });
  for (const mode of ['time', 'range']) {
    await open({
      ...RANGE,
      query: [QUERY, 'llmbench_result_seconds'],
      height: 560,
      options: options({ mode, slo: 0.45 }),
    });
    const rows = await legendRows(page);
    expect(rows.map(({ name }) => name)).toEqual([
      ...['vllm-0', 'vllm-1'].flatMap((name) => ['p50', 'p90', 'p99'].map((p) => `A ${name} ${p}`.slice(2))),
      ...['p50', 'p90', 'p99'].map((p) => `B ${p}`),
    ]);
    expect(rows.at(-1)?.texts[2]).toBe('exact');
    await expect(notes(page)).toContainText(
      /At or below 450 ms: vllm-0: .* – .*; vllm-1: .* – .*\. A bucket bound at 450 ms/
    );
    await keep(page, `several-${mode}`);
  }
});

test('many lines: all are drawn, and a click on a name shows its interval', async ({ page, open }) => {
  const instances = Array.from({ length: 20 }, (_, i) => `vllm-${String(i).padStart(2, '0')}`);
  const median = (i: number) => (row: number) => 0.1 + 0.02 * i + 0.03 * Math.sin(row / 20);
  await response(page, {
    [QUERY]: instances.flatMap((instance, i) => counters({ ...rising, labels: { instance }, median: median(i) })),
  });
  await open({ ...RANGE, query: QUERY, height: 700 });
  expect(await legendRows(page)).toHaveLength(60);
  await expect(notes(page)).toContainText('Intervals are hidden with more than 15 lines');
  await nothingIsCut(page, 1600);
  const canvas = page.locator('[data-part="many-lines"]');
  await expect(canvas).toBeVisible();
  await keep(page, 'many');
  await page.getByRole('button', { name: 'vllm-07 p99' }).click();
  await expect(canvas).toHaveCount(0);
  await expect(page.locator('[data-part="band"]')).toHaveCount(1);
});

test('everything beyond the last bucket: "> edge", hatched, in both modes', async ({ page, open }) => {
  await response(page, { [QUERY]: counters({ ...rising, bounds: [0.01, 0.02], median: () => 60, spread: 0.05 }) });
  for (const mode of ['time', 'range']) {
    await open({ ...RANGE, query: QUERY, options: options({ mode }) });
    expect((await legendRows(page)).map(({ texts }) => texts[1])).toEqual(['> 20 ms', '> 20 ms', '> 20 ms']);
    await expect(page.locator('[data-part="overflow"]').first()).toBeVisible();
    await keep(page, `overflow-${mode}`);
  }
});

test('gaps stay gaps; late samples and a change of the buckets are noted', async ({ page, open }) => {
  const first = counters({ ...rising, samples: 90, before: 250, missing: (row) => row >= 40 && row < 60 });
  const second = counters({ ...rising, samples: 90, startRow: 90, before: 3600, bounds: [0.1, 0.25, 0.5, 1, 2] });
  const byBound = new Map(first.map((one) => [one.metric['le'], one]));
  for (const one of second) {
    const same = byBound.get(one.metric['le']);
    if (same) {
      same.values.push(...one.values);
    } else {
      byBound.set(one.metric['le'], one);
    }
  }
  await response(page, { [QUERY]: [...byBound.values()] });
  await open({ ...RANGE, query: QUERY, height: 560 });
  await legendRows(page);
  await expect(page.locator('[data-part="grid-changes"] line')).toHaveCount(1);
  await expect(notes(page)).toContainText('counted from');
  await expect(notes(page)).toContainText('Buckets changed at');
  const line = page.locator('[data-percentile$="p50"] [data-part="line"]').first();
  expect((await line.getAttribute('d'))?.match(/M/g)).toHaveLength(2);
  await keep(page, 'gaps');
});

test('a sum over servers with different bounds is refused, with the remedy', async ({ page, open }) => {
  const query = `sum by (le) (rate(${QUERY}[10s]))`;
  const fine = counters({ ...rising, bounds: [0.1, 1] });
  const coarse = counters({ ...rising, perStep: () => 4, bounds: [0.2, 0.5] });
  // As Prometheus adds them: each bucket is of the servers that have its bound, here of a busy and of a quiet one.
  const rates = [...fine.slice(0, -1), ...coarse.slice(0, -1), ...fine.slice(-1)].map(
    ({ metric: { le = '' }, values }) => ({
      metric: { le },
      values: values.map(([at, count]): [number, string] => [at, String(Number(count) / 100)]),
    })
  );
  await response(page, { [query]: rates });
  await open({ ...RANGE, query });
  await expect(page.getByText('The counts decrease from a bucket to a wider one')).toBeVisible();
  await expect(page.getByText(/sum by \(instance, le\)/)).toBeVisible();
  await expect(page.locator('[data-percentile]')).toHaveCount(0);
});

test('_sum narrows the bounds', async ({ page, open }) => {
  const bounds = [0.1, 10];
  const buckets = counters({ ...rising, bounds, median: () => 0.14, spread: 0.2 });
  const total = buckets.find(({ metric }) => metric['le'] === '+Inf')?.values ?? [];
  const sum = {
    metric: { __name__: 'ttft_seconds_sum' },
    values: total.map(([time, n]): [number, string] => [time, `${Number(n) * 0.2}`]),
  };
  await response(page, { [QUERY]: buckets, ttft_seconds_sum: [sum] });
  await open({ ...RANGE, query: [QUERY, 'ttft_seconds_sum'] });
  const [p50] = await legendRows(page);
  expect(p50?.high).toBeLessThan(1);
  await expect(notes(page)).toContainText('narrowed by _sum');
});

test('two samples are one point; one sample says what is missing', async ({ page, open }) => {
  await response(page, { [QUERY]: counters({ ...rising, samples: 2 }) });
  await open({ ...RANGE, query: QUERY, to: RANGE.from + 20_000 });
  expect((await legendRows(page)).map(({ texts }) => texts[3])).toEqual(['40', '40', '40']);
  await response(page, { [QUERY]: counters({ ...rising, samples: 1 }) });
  await open({ ...RANGE, query: QUERY });
  await expect(page.getByText(/only one sample of the counters/)).toBeVisible();
  await keep(page, 'one-sample');
});

for (const mode of ['time', 'range']) {
  test(`${mode}: loading until the answer comes, then the drawing`, async ({ page, open }) => {
    let arrive = () => {};
    await response(page, { [QUERY]: counters(rising) }, new Promise((resolve) => (arrive = resolve)));
    await open({ ...RANGE, query: QUERY, options: options({ mode }) });
    await expect(message(page)).toHaveText('Loading …');
    await isAccessible(page);
    await keep(page, `loading-${mode}`);
    arrive();
    expect(await legendRows(page)).toHaveLength(3);
    await expect(page.getByText('Loading …')).toHaveCount(0);
  });
}

test('no series: no data, and no drawing', async ({ page, open }) => {
  await response(page, {});
  await open({ ...RANGE, query: QUERY });
  await expect(message(page).getByText('No data', { exact: true })).toBeVisible();
  await expect(message(page)).toContainText('If Prometheus stores native histograms only, query ttft_seconds');
  await expect(page.getByTestId('percentiles chart')).toHaveCount(0);
  await isAccessible(page);
  await keep(page, 'empty');
});

test.describe('a query that fails', () => {
  test.use({ allowed: [/named-register|status of 422/] });
  const REASON = 'query processing would load too many samples';

  for (const theme of ['dark', 'light']) {
    test(`the panel shows the reason, ${theme}`, async ({ page, open }) => {
      await response(page, { [QUERY]: REASON });
      await open({ ...RANGE, query: QUERY, theme });
      await expect(message(page)).toHaveText(`The query failedPrometheus: ${REASON}`);
      await isAccessible(page);
      await keep(page, `error-${theme}`);
    });
  }

  test('beside one that does not: that one is drawn, and the panel says what is missing', async ({ page, open }) => {
    await response(page, { [QUERY]: counters(rising), llmbench_result_seconds: REASON });
    await open({ ...RANGE, query: [QUERY, 'llmbench_result_seconds'] });
    expect(await legendRows(page)).toHaveLength(3);
    await expect(message(page)).toHaveText(`Query B is not drawn: Prometheus: ${REASON}`);
    await isAccessible(page);
    await keep(page, 'partial');
  });
});

test('a small panel keeps its drawing and lets the legend scroll to its end', async ({ page, open }) => {
  await response(page, { [QUERY]: counters({ ...rising, before: 100 }) });
  await open({ ...RANGE, query: QUERY, width: 480, height: 260, options: options({ slo: 0.6 }) });
  await legendRows(page);
  await notes(page).scrollIntoViewIfNeeded();
  const [note, panel] = [
    await notes(page).boundingBox(),
    await page.locator('section, [data-testid*="Panel"]').first().boundingBox(),
  ];
  expect(note?.width).toBeLessThanOrEqual(panel?.width ?? 0);
  await keep(page, 'small');
});

test('10,000 points are drawn, and hovering answers', async ({ page, open }) => {
  const samples = 10_000;
  await response(page, {
    [QUERY]: counters({ ...rising, samples, median: (row) => 0.15 + 0.1 * Math.sin(row / 400) }),
  });
  await open({ ...RANGE, query: QUERY, to: RANGE.from + samples * 1000 });
  await legendRows(page);
  const plot = await page.locator('[data-part="pointer"]').boundingBox();
  await page.mouse.move((plot?.x ?? 0) + 600, (plot?.y ?? 0) + 60);
  await expect(page.getByTestId('percentiles tooltip')).toContainText('n = ');
  await keep(page, '10000-points');
});
