import type { Locator, Page } from '@playwright/test';
import { expect, test } from './support/environment.ts';
import { expectNoOverflow } from './support/overflow.ts';
import { keepPicture } from './support/picture.ts';

const WITHOUT_EXPORTER = { without: 'llmbench-runs', from: 'now-1h', to: 'now' };

/** The first cells of each row of a table: what a row is of, and its ok requests. */
const counts = (table: Locator): Promise<string[][]> =>
  table
    .getByRole('row')
    .evaluateAll((rows) =>
      rows.slice(1).map((row) => Array.from(row.children, ({ textContent }) => textContent ?? '').slice(0, 2))
    );

const turnTable = (page: Page) => page.getByRole('group', { name: 'Turns of conversations' });
const modelTable = (page: Page) => page.getByRole('group', { name: 'Models of the load' });

test('conversations: first and later turns side by side, also from Prometheus alone', async ({ page, openStaged }) => {
  await openStaged('runs/conversations');
  await expect(turnTable(page)).toBeVisible();
  await expect(page.getByText(/Conversations: \d+ complete, \d+ incomplete; mean duration/)).toBeVisible();
  const all = await counts(turnTable(page));
  expect(all.slice(0, 2).map(([turn]) => turn)).toEqual(['first', 'later']);
  expect(Number(all[0]?.[1]) + Number(all[1]?.[1])).toBe(24);
  await expect(
    turnTable(page)
      .getByRole('img', { name: /^[\d.]+ m?s – [\d.]+ m?s$/ })
      .first()
  ).toBeVisible();
  await expectNoOverflow(page, 1024);
  await keepPicture(page, 'run-conversations');

  await openStaged('runs/conversations', WITHOUT_EXPORTER);
  await expect(turnTable(page)).toBeVisible();
  // Prometheus has the two classes, with the same counts.
  expect(await counts(turnTable(page))).toEqual(all.slice(0, 2));
  await expect(page.getByText(/Conversations: /)).toHaveCount(0);
});

test('two models: a row of each, also from Prometheus alone', async ({ page, openStaged }) => {
  await openStaged('runs/two-models');
  await expect(modelTable(page)).toBeVisible();
  const all = await counts(modelTable(page));
  expect(all.map(([model]) => model)).toEqual(['base', 'billing-lora']);
  await openStaged('runs/two-models', WITHOUT_EXPORTER);
  await expect(modelTable(page)).toBeVisible();
  expect(await counts(modelTable(page))).toEqual(all);
});

test('a run in progress: its turns and models so far, also from Prometheus alone', async ({ page, openStaged }) => {
  for (const parameters of [{}, WITHOUT_EXPORTER]) {
    await openStaged('runs/conversations-live', parameters);
    await expect(turnTable(page)).toBeVisible();
    expect((await counts(turnTable(page))).map(([turn]) => turn)).toEqual(['first', 'later']);
    expect((await counts(modelTable(page))).map(([model]) => model)).toEqual(['base', 'billing-lora']);
    await expect(turnTable(page).getByRole('row', { name: /^later .*[\d.]+ m?s – [\d.]+ m?s/ })).toBeVisible();
    await expect(
      modelTable(page).getByRole('row', { name: /^base .*[\d.]+ requests\/s .*[\d.]+ tokens\/s .*[\d.]+ m?s/ })
    ).toBeVisible();
    await expect(page.getByText(/percentiles are estimates from histogram buckets/)).toHaveCount(2);
    // All ended requests are in one class of turns and of one model.
    const total = async (table: Locator) => (await counts(table)).reduce((sum, [, ok]) => sum + Number(ok), 0);
    expect(await total(turnTable(page))).toBeGreaterThan(0);
    const before = await total(modelTable(page));
    await expect.poll(() => total(modelTable(page))).toBeGreaterThan(before);
  }
  await expectNoOverflow(page, 1024);
  await keepPicture(page, 'run-live-breakdown');
});

test('reranked documents: their latency and throughput, and why there is no time to first token', async ({
  page,
  openStaged,
}) => {
  for (const parameters of [{}, WITHOUT_EXPORTER]) {
    await openStaged('runs/rerank', parameters);
    await expect(page.getByText(/^The endpoint rerank generates no tokens/)).toBeVisible();
    await expect(page.getByRole('group', { name: 'Request latency p99' })).toContainText(/\d m?s/);
    await expect(page.getByRole('group', { name: 'Document throughput' })).toContainText(/\d documents\/s/);
    await expect(page.getByRole('group', { name: /^(Time to first token|Inter-token latency|Output)/ })).toHaveCount(0);
    const panels = page.getByRole('region', { name: 'Percentiles over time' });
    await expect(panels.getByTestId('percentiles chart')).toHaveCount(1);
  }
  await openStaged('runs/rerank');
  await expect(page.getByRole('img', { name: /request latency of each request/ })).toBeVisible();
  await expect(page.getByText('there is no time to first token to split')).toBeVisible();
  const compared = page.getByRole('group', { name: 'Client and server percentiles' });
  await expect(compared.getByRole('row', { name: /^Request latency/ })).toHaveCount(3);
  await expect(compared.getByRole('row', { name: /^Time to first token/ })).toHaveCount(0);

  await openStaged('runs', { scenario: 'rerank' });
  const row = page.getByRole('row', { name: /documents 4, ISL 64, query 32/ });
  await expect(row).toContainText(/[\d.]+ m?srequest latency.*[\d.]+documents\/s/);
});
