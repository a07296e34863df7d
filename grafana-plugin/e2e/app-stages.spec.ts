import type { Locator, Page } from '@playwright/test';
import { expect, test } from './support/environment.ts';
import { expectNoOverflow } from './support/overflow.ts';
import { keepPicture } from './support/picture.ts';

const stageTable = (page: Page) => page.getByRole('group', { name: 'Stages of the load' });

/** The text of a table's cells, row by row, with the head. */
const cells = (table: Locator): Promise<string[][]> =>
  table
    .getByRole('row')
    .evaluateAll((rows) => rows.map((row) => Array.from(row.children, ({ textContent }) => textContent ?? '')));

/** The labels of the regions in every chart with such a name. */
const regions = (page: Page, chart: RegExp): Promise<string[][]> =>
  page
    .getByRole('img', { name: chart })
    .evaluateAll((charts) =>
      charts.map((one) =>
        Array.from(one.querySelectorAll('[data-region]'), (region) => region.getAttribute('data-region') ?? '')
      )
    );

/** The number in a cell. */
const count = (text = '') => Number(text.replaceAll(',', ''));

const PERCENTILES = /^Percentiles over time/;
const REQUESTS = /^time to first token of each request over time/;
const RUNNING = /^Running requests/;

test('stages with an objective: the counts and the verdict of each, and their regions in the charts', async ({
  page,
  openStaged,
}) => {
  await openStaged('runs/stages-with-objective');
  await expect(stageTable(page)).toBeVisible();
  const [head = [], first = [], second = [], ...more] = await cells(stageTable(page));
  expect(more).toEqual([]);
  expect(head.slice(0, 3)).toEqual(['Stage', 'Ok', 'Failed']);
  expect([head.at(-1), first.at(-1), second.at(-1)]).toEqual(['Objectives', 'met', 'not met']);
  expect([first[0], second[0]]).toEqual(['1 rate=4:10s', '2 concurrency=96:6s']);
  expect(Math.min(count(first[1]), count(second[1]))).toBeGreaterThan(0);
  const all = (count(first[1]) + count(second[1])).toLocaleString('en-US');
  await expect(page.getByRole('group', { name: 'Ok requests' })).toContainText(`Ok requests${all}in `);
  await expect(page.getByRole('group', { name: 'Objectives' })).toContainText('not met0 met, 1 not met');

  const stages = ['1 rate=4', '2 concurrency=96'];
  await expect.poll(() => regions(page, PERCENTILES)).toEqual([stages, stages]);
  await expect.poll(() => regions(page, REQUESTS)).toEqual([stages]);
  await expect.poll(() => regions(page, RUNNING)).toEqual([stages]);
  await expectNoOverflow(page, 1024);
  await keepPicture(page, 'run-stages', { fullPage: true });
});

test('stages without an objective: no verdicts; the cool-down after the last stage', async ({ page, openStaged }) => {
  await openStaged('runs/stages-without-objective');
  await expect(stageTable(page)).toBeVisible();
  const [head = [], ...rows] = await cells(stageTable(page));
  expect(head.at(-1)).toBe('ITL p99');
  expect(rows.map(([stage]) => stage)).toEqual(['1 rate=4..8:2s', '2 concurrency=2:2s']);
  await expect(page.getByRole('group', { name: 'Goodput' })).toContainText('no limits set');
  await expect.poll(() => regions(page, REQUESTS)).toEqual([['1 rate=4..8', '2 concurrency=2', 'cooldown']]);
});

test('a run with a cool-down: its requests are beside the measured ones', async ({ page, openStaged }) => {
  await openStaged('runs/cool-down');
  const tile = page.getByRole('group', { name: 'Ok requests' });
  await expect(tile).toContainText(/Ok requests40in .* · [1-9]\d* more in the cool-down/);
  const [, extra] = /(\d+) more/.exec((await tile.textContent()) ?? '') ?? [];
  await expect(stageTable(page)).toHaveCount(0);
  const compared = page.getByRole('group', { name: 'Client and server percentiles' });
  await expect(compared.getByText(`40 / ${40 + Number(extra)}`)).toHaveCount(9);
  await expect(page.getByText(`${extra} of them in the cool-down`)).toBeVisible();
  const means = `the servers’ means are of ${40 + Number(extra)} requests, the client’s is of 40`;
  await expect(page.getByText(means)).toBeVisible();
  await expect.poll(() => regions(page, REQUESTS)).toEqual([['measure', 'cooldown']]);
});

test.describe('comparing', () => {
  test.use({ allowed: [/status of 422/] });

  test('runs with stages are compared one stage at a time', async ({ page, openStaged }) => {
    await openStaged('compare?a=stages-with-objective&b=stages-without-objective');
    const refused = page.getByRole('alert').filter({ hasText: 'These runs cannot be compared' });
    await expect(refused).toContainText('its load has 2 stages, of which one at a time is compared: choose its number');
    await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0);
    await page.getByRole('combobox', { name: 'Stage of the load' }).fill('2');
    await page.getByRole('option', { name: '2', exact: true }).click();
    await expect(page).toHaveURL(/[?&]stage=2\b/);
    await expect(page.getByText('The verdict is on stage 2 of the load')).toBeVisible();
    await expect(refused).toHaveCount(0);
    await expectNoOverflow(page, 1024);
    await keepPicture(page, 'compare-stage', { fullPage: true });
  });
});
