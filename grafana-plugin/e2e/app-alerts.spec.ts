import { expectNoAxeFindings } from './support/axe.ts';
import { expect, test } from './support/environment.ts';
import { expectNoOverflow } from './support/overflow.ts';
import { grafanaRules } from './support/grafana-rules.ts';
import { keepPicture } from './support/picture.ts';

const PROMETHEUS_RULES = '**/api/datasources/uid/prometheus/resources/api/v1/rules**';
const GRAFANA_RULES = '**/api/prometheus/grafana/api/v1/rules**';
const NO_GROUPS = { status: 'success', data: { groups: [] } };
const ALL_RULES = 16;
const REGRESSED = 'Scenario release has regressed';

test('a regression fires: since when, of which runs, and the comparison with its baseline', async ({
  page,
  openJudged,
}) => {
  await openJudged('alerts');
  const alert = page.getByRole('group', { name: REGRESSED });
  // The real one: Prometheus evaluates the project's rule on what the exporter exposes.
  await expect(alert).toContainText('firing');
  await expect(alert).toContainText(/since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d/);
  await expect(alert).toContainText(/Largest change: time to first token p\d\d \+(29|30|31)\.\d %/);
  await expect(alert).toContainText('scenario=release');
  await expect(alert.getByRole('link', { name: /^release, 20\d\d-/ }).first()).toHaveAttribute(
    'href',
    /\/runs\/release-2/
  );
  await expect(alert.getByRole('link', { name: 'Trends' })).toHaveAttribute('href', /trends\?.*scenario=release/);
  await expect(page.getByRole('group', { name: 'Missing rules' })).toContainText('0');
  await expect(page.getByRole('group', { name: 'Alert rules' }).getByRole('row')).toHaveCount(1 + ALL_RULES);
  const open = page
    .getByRole('region', { name: 'Open regressions' })
    .getByRole('listitem')
    .filter({ hasText: 'release' });
  await expect(open).toContainText(/regressed since release-20 \(5 runs ago\), time to first token p\d\d \+(29|30|31)/);
  await keepPicture(page, 'alerts', { fullPage: true });
  await alert.getByRole('link', { name: 'Compare with the baseline' }).click();
  // All runs that the alert names, with the one that raised the suspicion.
  await expect(page).toHaveURL(/compare\?.*a=release-0&.*b=release-20&.*b=release-25/);
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('regressed');
});

test('the alerts of one rule are one row, which opens; those for information are not counted as firing', async ({
  page,
  openJudged,
}) => {
  await page.route(PROMETHEUS_RULES, async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    for (const rule of answer.data.groups.flatMap(({ rules }: { rules: object[] }) => rules)) {
      const alert = (instance: string) => ({
        ...{ labels: { alertname: rule.name, severity: rule.labels?.severity, instance }, annotations: {} },
        ...{ state: 'firing', activeAt: '2026-11-23T10:00:00Z', value: '1e+00' },
      });
      const instances = { LlmPreemptions: ['a:8000', 'b:8000', 'c:8000'], LlmBenchmarkRunning: ['d:8000'] };
      Object.assign(rule, { alerts: (instances[rule.name as keyof typeof instances] ?? []).map(alert) });
    }
    await route.fulfill({ response, json: answer });
  });
  await openJudged('alerts');
  await expect(page.getByRole('group', { name: 'Firing' })).toContainText(/^Firing3 ?1 more for information/);
  const active = page.getByRole('region', { name: 'Firing and pending' });
  await expect(active.getByText('LlmPreemptions')).toHaveCount(1);
  await expect(active.getByText('a:8000 · b:8000 · c:8000')).toBeVisible();
  await active.getByRole('button', { name: '3 alerts' }).click();
  await expect(active.getByText('instance=b:8000')).toBeVisible();
  await keepPicture(page, 'alerts-folded', { fullPage: true });
});

test('the runbook opens on the page', async ({ page, openJudged }) => {
  await openJudged('alerts');
  const rules = page.getByRole('group', { name: 'Alert rules' });
  await rules.getByRole('button', { name: 'Runbook of LlmTargetDown' }).click();
  const runbook = page.getByRole('dialog');
  await expect(runbook.getByRole('heading', { name: 'Mitigation' })).toBeVisible();
  // Files beside the runbook are not in the app.
  await expect(runbook.locator('a[href$=".md"]')).toHaveCount(0);
  await keepPicture(page, 'alerts-runbook');
  await page.keyboard.press('Escape');
  await expect(runbook).toBeHidden();
});

test('Grafana-managed rules alone: what fires, what is paused, what is missing', async ({ page, openJudged }) => {
  await page.route(PROMETHEUS_RULES, (route) => route.fulfill({ json: NO_GROUPS }));
  await page.route(GRAFANA_RULES, (route) => route.fulfill({ json: grafanaRules('release', '2026-11-23T10:00:00Z') }));
  await openJudged('alerts', { role: 'Viewer' });
  const alert = page.getByRole('listitem').filter({ hasText: 'Scenario release cannot be decided' });
  await expect(alert).toContainText('Grafana-managed');
  await expect(alert).toContainText('since 2026-11-23 10:00:00');
  await expect(alert.getByRole('link', { name: 'Compare with the baseline' })).toBeVisible();
  await expect(page.getByText('scenario=quiet')).toHaveCount(0);
  const rules = page.getByRole('group', { name: 'Alert rules' });
  await expect(rules.getByRole('row').filter({ hasText: 'LlmScenarioOverdue' })).toContainText('paused');
  await expect(rules.getByRole('link', { name: 'LlmScenarioUndecided' })).toHaveAttribute(
    'href',
    /alerting\/grafana\/llmbench-LlmScenarioUndecided\/view/
  );
  // All but the two that are there, and the mark for Alertmanager.
  await expect(page.getByRole('group', { name: 'Missing rules' })).toContainText(String(ALL_RULES - 3));
  await expect(rules.getByRole('row').filter({ hasText: 'LlmScenarioRegressed' })).toContainText('missing');
  await expect(page.getByRole('link', { name: 'Load the rules' })).toHaveAttribute('href', /\/setup/);
});

test('rules in both places: each alert would notify twice', async ({ page, openJudged }) => {
  await page.route(GRAFANA_RULES, (route) => route.fulfill({ json: grafanaRules('release', '2026-11-23T10:00:00Z') }));
  await openJudged('alerts');
  await expect(
    page.getByText('2 rules are loaded in Prometheus and in Grafana: each alert notifies twice')
  ).toBeVisible();
});

test('no rules: how to load them', async ({ page, openJudged }) => {
  await page.route(PROMETHEUS_RULES, (route) => route.fulfill({ json: NO_GROUPS }));
  await openJudged('alerts');
  await expect(page.getByText('No alert rules of llmbench are loaded')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Set up' })).toHaveAttribute('href', /\/setup/);
  await keepPicture(page, 'alerts-none');
});

test('all quiet, one rule that cannot be evaluated, one that is pending', async ({ page, openJudged }) => {
  let isPending = false;
  await page.route(PROMETHEUS_RULES, async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    for (const rule of answer.data.groups.flatMap(({ rules }: { rules: object[] }) => rules)) {
      Object.assign(rule, { state: 'inactive', alerts: [] });
      if (rule.name === 'LlmPreemptions') {
        Object.assign(rule, { health: 'err', lastError: 'many-to-many matching not allowed' });
      }
      if (isPending && rule.name === 'LlmQueueSaturated') {
        const labels = { alertname: rule.name, severity: 'warning', instance: '127.0.0.1:8000' };
        const activeAt = '2026-11-23T10:00:00.5Z';
        rule.alerts = [{ labels, annotations: {}, state: 'pending', activeAt, value: '3e+00' }];
      }
    }
    await route.fulfill({ response, json: answer });
  });
  await openJudged('alerts');
  await expect(page.getByText('No alert is firing or pending.')).toBeVisible();
  await expect(page.getByRole('group', { name: 'Rules with errors' })).toContainText('1');
  const failing = page.getByRole('row').filter({ hasText: 'LlmPreemptions' });
  await expect(failing).toContainText('many-to-many matching not allowed');
  isPending = true;
  await page.getByTestId('data-testid RefreshPicker run button').click();
  await expect(page.getByRole('listitem').filter({ hasText: 'instance=127.0.0.1:8000' })).toContainText('pending');
});

test('without the exporter: the runs of the description, and no comparison', async ({ page, openJudged }) => {
  await openJudged('alerts', { without: 'llmbench-runs' });
  const alert = page.getByRole('group', { name: REGRESSED });
  await expect(alert.getByRole('link', { name: 'release-20' })).toBeVisible();
  await expect(alert.getByRole('link', { name: 'Compare with the baseline' })).toHaveCount(0);
});

test('without Prometheus: Grafana-managed rules only', async ({ page, openJudged }) => {
  await openJudged('alerts', { without: 'prometheus' });
  await expect(page.getByText('only Grafana-managed rules are listed')).toBeVisible();
  await expect(page.getByText('No alert rules of llmbench are loaded')).toBeVisible();
});

test.describe('with errors', () => {
  test.use({ allowed: [/Failed to load resource/] });

  test('Prometheus does not answer: why, and the Grafana-managed rules all the same', async ({ page, openJudged }) => {
    await page.route(PROMETHEUS_RULES, (route) =>
      route.fulfill({ status: 502, json: { message: 'connection refused' } })
    );
    await page.route(GRAFANA_RULES, (route) =>
      route.fulfill({ json: grafanaRules('release', '2026-11-23T10:00:00Z') })
    );
    await openJudged('alerts');
    const problem = page.getByRole('alert').filter({ hasText: 'The rules of Prometheus could not be loaded' });
    await expect(problem).toContainText('HTTP 502: connection refused');
    await expect(page.getByText('Scenario release cannot be decided')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Open regressions' })).toContainText('regressed since release-20');
    // Which rules Prometheus has is not known.
    await expect(page.getByRole('group', { name: 'Missing rules' })).toContainText('–');
    await page.unroute(PROMETHEUS_RULES);
    await problem.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByText(REGRESSED)).toBeVisible();
  });
});

test.describe('with axe, which defines a module', () => {
  test.use({ allowed: [/named-register/] });

  for (const theme of ['dark', 'light'] as const) {
    test(`${theme}: nothing overflows from 1024 px up, and axe finds nothing`, async ({ page, openJudged }) => {
      await openJudged('alerts', { theme });
      await expect(page.getByText(REGRESSED)).toBeVisible();
      await expectNoOverflow(page, 1024);
      await expectNoAxeFindings(page);
      await keepPicture(page, `alerts-${theme}-1024`, { fullPage: true });
    });
  }
});
