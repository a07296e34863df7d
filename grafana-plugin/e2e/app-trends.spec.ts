import { expectNoAxeFindings } from './support/axe.ts';
import { expect, test } from './support/environment.ts';
import { expectNoOverflow } from './support/overflow.ts';
import { msFromArrival, watchFor } from './support/time-to-show.ts';
import { keepPicture } from './support/picture.ts';

const SCENARIO = '**/llmbench-runs/api/v1/scenarios/release**';
const MANY = 1000;

test('a regressed scenario: verdict, baseline, change point and verdicts at the runs', async ({ page, openJudged }) => {
  await openJudged('trends', { scenario: 'release' });
  const open = page.getByRole('alert').filter({ hasText: 'Regressed since release-20 (5 runs ago)' });
  await expect(open.getByRole('link', { name: 'Compare all runs since then' })).toHaveAttribute(
    'href',
    /a=release-0&.*b=release-20&.*b=release-25/
  );
  const state = page.getByRole('region', { name: 'Newest verdict' });
  await expect(state).toContainText('regressed');
  await expect(state).toContainText('Baseline: 20 accepted runs; 3 pinned');
  await expect(state.getByRole('link', { name: 'Compare with the baseline' })).toHaveAttribute(
    'href',
    /a=release-0&.*b=release-2/
  );
  const ttft = page.getByRole('region', { name: 'Time to first token p50' });
  await expect(ttft.locator('[data-run]')).toHaveCount(30);
  await expect(ttft.locator('[data-mark="worse"]')).toHaveCount(1);
  await expect(ttft.locator('[data-mark="worse"]')).toContainText(/\+(29|30|31)(\.\d)? %/);
  // The runs from the 21st on are 30 % slower: above the band of the baseline.
  const band = await ttft.locator('[data-band="baseline"]').boundingBox();
  const slow = await ttft.locator('[data-run="release-25"]').boundingBox();
  expect((slow?.y ?? Infinity) + (slow?.height ?? 0)).toBeLessThan(band?.y ?? -Infinity);
  await expect(page.getByRole('region', { name: 'Changes of the baseline' }).getByRole('row')).toHaveCount(3);
  await expect(page.getByRole('region', { name: 'Changes of the baseline' })).toContainText('first baseline');
  await keepPicture(page, 'trends', { fullPage: true });
});

test('a click selects a run, two are compared', async ({ page, openJudged }) => {
  await openJudged('trends', { scenario: 'release' });
  const ttft = page.getByRole('region', { name: 'Time to first token p50' });
  // The layer over the drawing takes the click, and finds the run.
  await ttft.locator('[data-run="release-3"]').click({ force: true });
  await expect(page).toHaveURL(/picked=release-3/);
  await expect(page.getByRole('link', { name: /^Open 2026-01-04/ })).toHaveAttribute('href', /\/runs\/release-3\?/);
  await ttft.locator('[data-run="release-27"]').click({ force: true });
  await page.getByRole('link', { name: 'Compare', exact: true }).click();
  await expect(page).toHaveURL(/compare\?.*a=release-3&b=release-27/);
});

test('dragging over the chart zooms into the runs, also of the table', async ({ page, openJudged }) => {
  await openJudged('trends', { scenario: 'release' });
  const ttft = page.getByRole('region', { name: 'Time to first token p50' });
  const [from, to] = [ttft.locator('[data-run="release-18"]'), ttft.locator('[data-run="release-24"]')];
  const [start, end] = [await from.boundingBox(), await to.boundingBox()];
  await page.mouse.move((start?.x ?? 0) - 6, (start?.y ?? 0) + 4);
  await page.mouse.down();
  await page.mouse.move((end?.x ?? 0) + 14, (end?.y ?? 0) + 4, { steps: 4 });
  await page.mouse.up();
  await expect(page).toHaveURL(/places=18-24/);
  await expect(ttft.locator('[data-run]')).toHaveCount(7);
  await expect(page.getByRole('group', { name: 'Runs of the scenario' }).getByRole('row')).toHaveCount(8);
  await page.getByRole('button', { name: 'Show all runs' }).click();
  await expect(ttft.locator('[data-run]')).toHaveCount(30);
});

test('the arrow keys move between runs, and Enter selects one', async ({ page, openJudged }) => {
  await openJudged('trends', { scenario: 'release' });
  const chart = page.getByRole('group', { name: /^Time to first token p50 of each run, the oldest first: arrow keys/ });
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('status').filter({ hasText: 'accepted, pinned' })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/picked=release-1(&|$)/);
});

test('a scenario without baseline says what to do', async ({ page, openApp }) => {
  await openApp('trends', { scenario: 'chat' });
  await expect(page.getByText('No baseline: accept runs with llmbench baseline accept.')).toBeVisible();
  await expect(page.getByText('llmbench check --scenario chat')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Time to first token p50' }).locator('[data-run]')).toHaveCount(2);
});

test.describe('with errors', () => {
  test.use({ allowed: [/Failed to load resource/] });

  test('a scenario that does not exist', async ({ page, openJudged }) => {
    await openJudged('trends', { scenario: 'no such one' });
    await expect(page.getByText('The scenario could not be loaded')).toBeVisible();
    await expect(page.getByText('no such one')).toBeVisible();
  });

  test('the exporter does not answer', async ({ page, openJudged }) => {
    await page.route('**/llmbench-runs/api/v1/scenarios**', (route) => route.fulfill({ status: 503, body: '' }));
    await openJudged('trends');
    await expect(page.getByText('The scenarios could not be loaded')).toBeVisible();
    await expect(page.getByRole('link', { name: 'Open the history dashboard' })).toHaveAttribute(
      'href',
      /\/d\/llmbench-history\?var-datasource=prometheus/
    );
    await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
  });
});

test('no scenarios yet', async ({ page, openJudged }) => {
  await page.route('**/llmbench-runs/api/v1/scenarios**', (route) =>
    route.fulfill({ json: { scenarios: [], page: 1, limit: 1000, total: 0 } })
  );
  await openJudged('trends');
  await expect(page.getByText('No scenarios yet')).toBeVisible();
});

test('a thousand runs are usable at once', async ({ page, openJudged }) => {
  await page.route(SCENARIO, async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    const { runs } = answer;
    const many = Array.from({ length: MANY }, (_, i) => ({ ...runs[i % runs.length], run_id: `many-${i}` }));
    await route.fulfill({ response, json: { ...answer, runs: many, total_runs: MANY } });
  });
  await watchFor(page, '[data-runs]');
  await openJudged('trends', { scenario: 'release' });
  const ttft = page.getByRole('region', { name: 'Time to first token p50' });
  const drawn = () =>
    ttft.locator('[data-runs]').evaluateAll((dots) => dots.map((dot) => Number(dot.getAttribute('data-runs'))));
  await expect.poll(async () => (await drawn()).reduce((sum, runs) => sum + runs, 0)).toBe(MANY);
  const shownMs = await msFromArrival(page, /\/api\/v1\/scenarios\/release/);
  console.log(`1,000 runs      ${shownMs.toFixed(0)} ms from the history's arrival until it is shown (goal 500 ms)`);
  const chart = await ttft.getByRole('img').boundingBox();
  await page.mouse.click((chart?.x ?? 0) + (chart?.width ?? 0) - 17, (chart?.y ?? 0) + 100);
  await expect(page).toHaveURL(/picked=many-0(&|$)/);
  await expect(ttft.locator('[data-run="many-0"]')).toHaveCount(1);
  await keepPicture(page, 'trends-many');
});

test.describe('with axe, which defines a module', () => {
  test.use({ allowed: [/named-register/] });

  for (const theme of ['dark', 'light'] as const) {
    test(`${theme}: nothing overflows from 1024 px up, and axe finds nothing`, async ({ page, openJudged }) => {
      await openJudged('trends', { scenario: 'release', theme });
      await expect(page.getByRole('region', { name: 'Changes of the baseline' })).toBeVisible();
      await expectNoOverflow(page, 1024);
      await expectNoAxeFindings(page);
      await keepPicture(page, `trends-${theme}-1024`, { fullPage: true });
    });
  }
});
