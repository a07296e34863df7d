import { expectNoAxeFindings } from './support/axe.ts';
import { expect, test } from './support/environment.ts';
import { expectNoOverflow } from './support/overflow.ts';
import { msFromArrival, watchFor } from './support/time-to-show.ts';
import { keepPicture } from './support/picture.ts';

const COMPARE = '**/llmbench-runs/api/v1/compare?**';
const BOTH = { a: 'tag:before', b: 'tag:after' };

test('two sets: the verdict, a row per measure with its effect, then the runs', async ({ page, openJudged }) => {
  await watchFor(page, '[aria-label="Measures"] [data-part="estimate"]');
  await openJudged('compare', BOTH);
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await expect(verdict).toContainText('Regressed: time to first token p50');
  await expect(verdict).toContainText('A 10 runs · B 10 runs');
  const table = page.getByRole('group', { name: 'Measures' });
  const row = table.getByRole('row', { name: /^Time to first token p50/ });
  // The runs of after- are 20 % slower.
  await expect(row).toContainText(/regressed.*\+(19|20|21)(\.\d)? %.*±5 %.*10 \+ 10/);
  await expect(row.getByRole('img')).toHaveAccessibleName(/^Effect \+\S+ %, interval .* %, margin ±5 %$/);
  await expect(table.getByRole('row', { name: /^Inter-token latency p50/ })).toContainText(/unchanged.*0 %/);
  await expect(page.getByText('6 of 20: A1, A2, A3, B1, B2, B3')).toBeVisible();
  const shownMs = await msFromArrival(page, /\/api\/v1\/compare\?/);
  console.log(`2 × 10 runs     ${shownMs.toFixed(0)} ms from the verdict's arrival until it is shown (goal 500 ms)`);
  await keepPicture(page, 'compare-regressed', { fullPage: true });
});

test('the effects of worse and better measures are on their sides of the margin', async ({ page, openJudged }) => {
  await openJudged('compare', BOTH);
  const plot = page.getByRole('row', { name: /^Time to first token p50/ }).getByRole('img');
  const [margin, estimate] = [plot.locator('[data-part="margin"]'), plot.locator('[data-part="estimate"]')];
  const [band, point] = [await margin.boundingBox(), await estimate.boundingBox()];
  expect(point?.x).toBeGreaterThan((band?.x ?? Infinity) + (band?.width ?? 0));
  await page.getByRole('button', { name: 'Swap A and B' }).click();
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('Improved');
  await expect(page).toHaveURL(/a=tag%3Aafter&b=tag%3Abefore/);
  const mirrored = await estimate.boundingBox();
  expect(mirrored?.x).toBeLessThan((await margin.boundingBox())?.x ?? -Infinity);
});

test('too few runs are undecided, with a command to copy', async ({ page, openJudged, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openJudged('compare', { a: ['before-0', 'before-1'], b: 'after-0' });
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('Undecided');
  await expect(page.getByRole('row', { name: /^Time to first token p50/ })).toContainText('too few runs');
  const settle = page.getByRole('region', { name: 'What would settle it' });
  await expect(settle).toContainText('Further runs: 3 of A and 4 of B.');
  await settle.getByRole('button', { name: 'Copy: Command' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^llmbench run --url .*--scenario nightly/);
  await keepPicture(page, 'compare-undecided', { fullPage: true });
});

test('a saturated client is in the way: which run, and what to do', async ({ page, openJudged }) => {
  await openJudged('compare', { a: 'tag:before', b: ['after-0', 'saturated'] });
  const banner = page.getByRole('alert').filter({ hasText: 'The runs are not comparable' });
  await expect(banner).toContainText('The client itself was saturated in 1 run. Runs: B2.');
  await expect(banner).toContainText('--workers');
});

test('runs of different configurations: what differs, and the runs side by side', async ({
  page,
  openApp,
  environment,
}) => {
  const [a, b] = environment.finished;
  await openApp('compare', { a, b });
  await expect(page.getByText('The runs have 2 different configurations')).not.toHaveCount(0);
  const differences = page.getByRole('group', { name: 'Configuration differences' });
  await expect(differences.getByRole('row', { name: /^load\.concurrency 2 4$/ })).toBeVisible();
  const load = page.getByRole('group', { name: 'Achieved load' });
  await expect(load.getByRole('row', { name: /^Input sequence length, mean .* tokens .* tokens 0 %$/ })).toBeVisible();
  await expect(load.getByRole('row', { name: /^Effective concurrency .* differs \+[\d.]+ %$/ })).toBeVisible();
  // One run of each side leaves every change open: there is no interval to draw.
  const effect = page.getByRole('row', { name: /^Time to first token p50/ }).getByRole('img');
  await expect(effect.locator('[data-part="estimate"]')).toBeVisible();
  await expect(effect.locator('[data-part="interval"]')).toHaveCount(0);
  await expect(page.getByRole('img', { name: 'Distribution functions of Time to first token' })).toBeVisible();
  await expect(page.locator('[data-series^="B1 chat, 20"]')).not.toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'KV cache usage' })).toBeVisible();
  await keepPicture(page, 'compare', { fullPage: true });
  await page.getByRole('button', { name: 'Compare anyway' }).click();
  await expect(page.getByText('The load or other options differ too')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('Undecided');
});

test('links from before there were sets: the first run is the baseline', async ({ page, openApp, environment }) => {
  const [first, second] = environment.finished;
  await openApp('overlay', { run: [first, second], distribution: 'request_latency' });
  await expect(page).toHaveURL(new RegExp(`/compare\\?.*distribution=request_latency.*a=${first}&b=${second}`));
  await expect(page.getByRole('region', { name: 'Verdict' })).toBeVisible();
});

test('without sets: comparisons to begin with, one click away', async ({ page, openJudged }) => {
  await openJudged('compare');
  const suggested = page.getByRole('region', { name: 'Suggested comparisons' });
  await expect(suggested.getByRole('link', { name: /under the same load/ })).not.toHaveCount(0);
  await keepPicture(page, 'compare-candidates');
  await suggested.getByRole('link', { name: 'release: runs since the regression against the baseline' }).click();
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('regressed');
});

test('two scenarios under the same load are compared anyway, and what differs is named', async ({
  page,
  openJudged,
}) => {
  await openJudged('compare', { a: 'tag:before', b: 'scenario:changing' });
  await expect(page.getByText('The runs are not comparable', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Compare anyway' }).click();
  await expect(page).toHaveURL(/across_scenarios=true/);
  await expect(page.getByText('Differs on purpose', { exact: true })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText(/Scenarios .* \(A\) and changing \(B\)/);
  await expect(page.getByText(/^Effect: the median of the ratios/)).toBeVisible();
});

test('sets are chosen by name, or by a selector that is typed and confirmed with Enter', async ({
  page,
  openJudged,
}) => {
  await openJudged('compare');
  await expect(page.getByText('Choose the runs of A and of B')).toBeVisible();
  await page.getByRole('combobox', { name: 'A, baseline' }).fill('before');
  await page.getByRole('option', { name: /^tag:before/ }).click();
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/a=tag%3Abefore/);
  await expect(page.getByText('Choose the runs of the other set')).toBeVisible();
  await page.getByRole('combobox', { name: 'B, compared' }).fill('tag:after+last:6');
  await expect(page.getByRole('option', { name: /^tag:after\+last:6 Use as selector/ })).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('A 10 runs · B 6 runs');
});

test('the margin and all measures are in the URL', async ({ page, openJudged }) => {
  await openJudged('compare', { ...BOTH, margin: '30' });
  await expect(page.getByRole('row', { name: /^Time to first token p50/ })).toContainText('±30 %');
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('Un');
  await page.getByText(/^All \d+ measures$/).click();
  await expect(page).toHaveURL(/measures=all/);
});

test('the runs beyond the first three are listed on request', async ({ page, openJudged }) => {
  await openJudged('compare', BOTH);
  const set = page.getByRole('group', { name: 'B, compared' });
  await set.getByRole('button', { name: 'Show 7 more' }).click();
  await expect(set.getByRole('link', { name: 'after-9' })).toHaveAttribute('href', /\/runs\/after-9/);
});

test('the page of a judged run has its verdict, and leads to its evidence', async ({ page, openJudged }) => {
  await openJudged('runs/after-3');
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await expect(verdict).toContainText('Regressed: time to first token p50');
  await keepPicture(page, 'run-verdict');
  await verdict.getByRole('link', { name: 'Compare with the baseline' }).click();
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('A 10 runs · B 10 runs');
});

test('the comparison of a confirmed regression names the run that is left out of it, until the sets change', async ({
  page,
  openJudged,
}) => {
  await openJudged('compare', {
    a: 'tag:before',
    b: ['after-1', 'after-2', 'after-3', 'after-4'],
    left_out: 'after-0',
  });
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await expect(verdict).toContainText('without after-0, which raised the suspicion and cannot confirm it');
  await page.getByRole('button', { name: 'Swap A and B' }).click();
  await expect(verdict).toContainText('A 4 runs · B 10 runs');
  await expect(verdict).not.toContainText('raised the suspicion');
});

test('a run that was not judged has no verdict', async ({ page, openJudged }) => {
  await openJudged('runs/before-3');
  await expect(page.getByRole('region', { name: 'Configuration' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Verdict' })).toHaveCount(0);
});

test('without the data source: a link to the setup', async ({ page, openApp }) => {
  await openApp('compare', { without: 'llmbench-runs' });
  await expect(page.getByText('Comparing runs requires the data source')).toBeVisible();
  await page.getByRole('link', { name: 'Set up' }).click();
  await expect(page.getByRole('heading', { name: 'Setup' })).toBeVisible();
});

test.describe('with errors', () => {
  test.use({ allowed: [/Failed to load resource/] });

  test('a run that does not exist, and one that is in both sets', async ({ page, openJudged }) => {
    await openJudged('compare', { a: 'nothing-here', b: 'tag:after' });
    await expect(page.getByText('These runs cannot be compared')).toBeVisible();
    await expect(page.getByText('a: no run "nothing-here"')).toBeVisible();
    await openJudged('compare', { a: 'after-1', b: 'tag:after' });
    await expect(page.getByText('after-1 is in both sets')).toBeVisible();
  });

  test('an exporter without this part of the API', async ({ page, openJudged }) => {
    const problem = {
      title: 'Not Found',
      status: 404,
      detail: '/api/v1/compare does not exist; see /api/v1/openapi.yaml',
    };
    await page.route(COMPARE, (route) => route.fulfill({ status: 404, json: problem }));
    await openJudged('compare', BOTH);
    await expect(page.getByText('This exporter cannot compare runs')).toBeVisible();
  });

  test('the exporter is down, and comes back', async ({ page, openJudged }) => {
    await page.route(COMPARE, (route) => route.fulfill({ status: 502, json: { message: '' } }));
    await openJudged('compare', BOTH);
    await expect(page.getByText(/Grafana cannot reach the exporter/)).toBeVisible();
    await page.unroute(COMPARE);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('Regressed');
  });
});

test.describe('a verdict', () => {
  // What axe puts into the page meets the loader of the host.
  test.use({ allowed: [/named-register/] });

  for (const theme of ['dark', 'light']) {
    test(`${theme}: nothing overflows from 1024 px up, and axe finds nothing`, async ({ page, openJudged }) => {
      await openJudged('compare', { ...BOTH, theme });
      await expect(page.getByRole('region', { name: 'Server signals', exact: true })).toBeVisible();
      await page.waitForLoadState('networkidle');
      for (const width of [1024, 1600]) {
        await expectNoOverflow(page, width);
        await keepPicture(page, `compare-verdict-${theme}-${width}`, { fullPage: true });
      }
      await expectNoAxeFindings(page);
    });
  }
});
