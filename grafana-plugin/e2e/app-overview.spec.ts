import { expectNoAxeFindings } from './support/axe.ts';
import { expect, test } from './support/environment.ts';
import { manyRuns } from './support/many-runs.ts';
import { expectNoOverflow } from './support/overflow.ts';
import { msFromArrival, watchFor } from './support/time-to-show.ts';
import { keepPicture } from './support/picture.ts';

const EXPORTER = '**/api/datasources/proxy/uid/llmbench-runs/**';
const OVERVIEW = '**/llmbench-runs/api/v1/overview?**';
const latest = '[aria-label="Newest completed run of each scenario"] tbody tr';

test("the app's own URL opens the overview; every page is in the breadcrumb under it", async ({ page, openApp }) => {
  await openApp('');
  await expect(page).toHaveURL(/\/overview(\?|$)/);
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
});

test('what regressed: since when, the largest change, and one click to the comparison', async ({
  page,
  openJudged,
}) => {
  await openJudged('overview');
  await expect(page.getByRole('group', { name: 'Open regressions' })).toContainText(/^Open regressions[12]/);
  const attention = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem');
  const release = attention.filter({ hasText: 'release' });
  await expect(release).toContainText(
    /regressed since release-20 \(5 runs ago\), time to first token p\d\d \+(29|30|31)/
  );
  await expect(release).toContainText(/began 20\d\d-/);
  await expect(release.getByRole('link', { name: 'release', exact: true })).toHaveAttribute(
    'href',
    /trends\?.*scenario=release/
  );
  await keepPicture(page, 'overview-judged', { fullPage: true });
  await release.getByRole('link', { name: /^Compare/ }).click();
  await expect(page).toHaveURL(/compare\?.*a=release-0&.*b=release-20&.*b=release-25/);
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('regressed');
});

test('what is new: of each scenario the newest completed run with verdict, objectives and figures; a sweep is one row', async ({
  page,
  openJudged,
}) => {
  await openJudged('overview');
  const capacity = page.locator(latest).filter({ hasText: 'capacity' });
  await expect(capacity).toHaveCount(1);
  await expect(capacity).toContainText(/\d+ of \d+ met/);
  await expect(capacity).toContainText('concurrency 1 … 256');
  const release = page.locator(latest).filter({ hasText: 'release' });
  await expect(release.getByRole('img', { name: /^TTFT p99 of this run and of earlier runs/ })).toBeVisible();
  await expect(release).toContainText('regressed');
  await expect(release).toContainText(/\d ms/);
});

test('what runs now: progress, time left, throughput and errors, which move on', async ({ page, openApp }) => {
  await openApp('overview');
  const live = page.getByRole('region', { name: 'Running now' });
  await expect(live.getByRole('link', { name: 'soak' })).toBeVisible();
  await expect(live.getByRole('progressbar')).toBeVisible();
  const cells = live.getByRole('row').last().getByRole('cell');
  await expect(cells.nth(1)).toContainText(/[\d,]+ requests · .* of 50 min/);
  await expect(cells.nth(2)).toHaveText(/^\d+ min/);
  await expect(cells.nth(3)).toHaveText(/\d requests\/s/);
  await expect(cells.nth(4)).toHaveText(/\d tokens\/s/);
  await expect(cells.nth(5)).toHaveText(/%|^0$/);
  const before = await cells.nth(1).textContent();
  await expect(cells.nth(1)).not.toHaveText(before ?? '');
  await keepPicture(page, 'overview', { fullPage: true });
});

test('overdue and undecided scenarios, and when there is nothing', async ({ page, openApp }) => {
  let isQuiet = false;
  await page.route(OVERVIEW, async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    const scenario = (name: string, change: object) => ({
      ...{ scenario: name, runs: 3, fingerprints: [], last_completed: null, verdict: null, state: 'ok' },
      ...{ open_regression: null, undecided_checks: 0, baseline: { accepted: 0, pinned: 0 } },
      ...{ expected_interval_seconds: null, overdue: null },
      ...change,
    });
    const verdict = { verdict: 'undecided', reason: 'too_few_runs', sentence: 'Undecided: too few runs.' };
    const attention = isQuiet
      ? []
      : [
          scenario('nightly', { expected_interval_seconds: 86400, overdue: true }),
          scenario('chat', {
            undecided_checks: 3,
            verdict: { ...verdict, at: '', run_ids: ['b'], baseline_run_ids: ['a'], left_out: null },
          }),
        ];
    await route.fulfill({ response, json: { ...answer, attention, attention_total: attention.length } });
  });
  await openApp('overview');
  const items = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem');
  await expect(items.filter({ hasText: 'overdue' })).toContainText(/No run has completed\.expected every 24 h/);
  await expect(items.filter({ hasText: 'undecided' })).toContainText('Undecided: too few runs.3 checks in a row');
  await expect(items.getByRole('link', { name: 'Compare chat with the baseline' })).toHaveAttribute('href', /a=a&b=b/);
  await expect(page.getByRole('group', { name: 'Overdue' })).toContainText('1');
  isQuiet = true;
  await page.getByTestId('data-testid RefreshPicker run button').click();
  await expect(page.getByText('No scenario has an open regression')).toBeVisible();
});

test('no runs yet: the three steps to the first run', async ({ page, openApp }) => {
  const nothing = { runs: { finished: 0, running: 0 }, scenarios: 0, attention: [], attention_total: 0 };
  await page.route(OVERVIEW, (route) => route.fulfill({ json: { ...nothing, running: [], latest: [] } }));
  await openApp('overview');
  const steps = page.getByRole('region', { name: 'Three steps to the first run' });
  await expect(steps.getByRole('listitem')).toHaveCount(3);
  await expect(steps.getByText(/llmbench-observability run --url/)).toBeVisible();
  await keepPicture(page, 'overview-first-run');
});

test('without any data source: the three steps, none of them done', async ({ page, openApp }) => {
  await openApp('overview', { without: ['llmbench-runs', 'prometheus'] });
  const steps = page.getByRole('region', { name: 'Three steps to the first run' });
  await expect(steps.getByText('npx llmbench-observability serve')).toBeVisible();
  await steps.getByRole('link', { name: 'Set up' }).click();
  await expect(page.getByRole('heading', { name: 'Setup' })).toBeVisible();
});

test.describe('when the exporter does not answer', () => {
  test.use({ allowed: [/Failed to load resource/] });

  test('what Prometheus knows: open regressions, runs in progress and the latest results', async ({
    page,
    openJudged,
  }) => {
    await page.route(EXPORTER, (route) => route.fulfill({ status: 502, json: { message: '' } }));
    await openJudged('overview');
    await expect(page.getByText(/Grafana cannot reach the exporter/)).toBeVisible();
    await expect(page.getByText(/From Prometheus alone/)).toBeVisible();
    const release = page
      .getByRole('region', { name: 'Needs attention' })
      .getByRole('listitem')
      .filter({ hasText: 'release' });
    await expect(release).toContainText(/Largest change: time to first token p\d\d \+(29|30|31)/);
    await expect(page.getByRole('region', { name: 'Running now' }).getByRole('link', { name: 'soak' })).toBeVisible();
    await expect(page.locator(latest).filter({ hasText: 'chat' })).toContainText(/\d ms/);
    await keepPicture(page, 'overview-exporter-down', { fullPage: true });
    await page.unroute(EXPORTER);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByText(/From Prometheus alone/)).toHaveCount(0);
  });
});

// The time is printed: nothing fails because a machine is slow.
test('many scenarios: usable at once', async ({ page, openApp }) => {
  const runs = manyRuns(20).map((run, i) => ({ ...run, scenario: `scenario ${i}` }));
  const figures = Array.from({ length: 12 }, (_, i) => 0.1 + i / 100);
  const rows = runs.map((run) => ({
    ...{ run, group: null },
    history: { time_to_first_token_p99: figures, output_token_throughput: figures },
  }));
  await page.route(OVERVIEW, (route) =>
    route.fulfill({
      json: {
        ...{ runs: { finished: 5000, running: 0 }, scenarios: 250, attention: [], attention_total: 0 },
        ...{ running: [], latest: rows },
      },
    })
  );
  await watchFor(page, latest);
  await openApp('overview');
  await expect(page.locator(latest)).toHaveCount(20);
  const shownMs = await msFromArrival(page, /\/api\/v1\/overview/);
  console.log(`overview        ${shownMs.toFixed(0)} ms from the data's arrival until usable (goal 500 ms)`);
});

test.describe('with axe, which defines a module', () => {
  test.use({ allowed: [/named-register/] });

  for (const theme of ['dark', 'light'] as const) {
    test(`${theme}: nothing overflows from 1024 px up, and axe finds nothing`, async ({ page, openJudged }) => {
      await openJudged('overview', { theme });
      await expect(page.locator(latest).first()).toBeVisible();
      for (const width of [1024, 1600]) {
        await expectNoOverflow(page, width);
        await keepPicture(page, `overview-${theme}-${width}`, { fullPage: true });
      }
      await expectNoAxeFindings(page);
    });
  }
});
