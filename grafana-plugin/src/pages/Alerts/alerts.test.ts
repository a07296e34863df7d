import { readdirSync, readFileSync } from 'fs';
import { join } from 'path';
import type { ListedScenario } from '../../../../core/api/scenarios.ts';
import {
  activeAlerts,
  alertsByRule,
  calling,
  compareRules,
  loadedTwice,
  missingAlerts,
  ownRules,
  ONLY_IN_PROMETHEUS,
  SHIPPED_ALERTS,
  type RuleResponse,
} from './alert-rules.ts';
import { alertCompareUrl, alertRuns, subjectLabels, withoutRuns } from './ActiveAlerts.tsx';

const PROJECT = join(__dirname, '../../../..');
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');

test('the shipped alerts are those of prometheus/alerts, with their severities and runbooks', () => {
  const files = readdirSync(join(PROJECT, 'prometheus/alerts'));
  const shipped = files
    .flatMap((file) => [...read(`prometheus/alerts/${file}`).matchAll(/- alert: (\w+)[\s\S]*?severity: (\w+)/g)])
    .map(([, name, severity]) => ({ name: name ?? '', severity }));
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  expect([...SHIPPED_ALERTS].sort(byName)).toEqual(shipped.sort(byName));
  expect(readdirSync(join(PROJECT, 'docs/runbooks')).sort()).toEqual(
    SHIPPED_ALERTS.map(({ name }) => `${name}.md`).sort()
  );
});

test('the Grafana-managed rules have the same names, but for the mark of Alertmanager', () => {
  const titles = [...read('grafana-plugin/provisioning/alerting/llmbench.yaml').matchAll(/^ +title: (\w+)$/gm)].map(
    ([, title]) => title
  );
  expect(titles.sort()).toEqual(
    SHIPPED_ALERTS.map(({ name }) => name)
      .filter((name) => name !== ONLY_IN_PROMETHEUS)
      .sort()
  );
});

const rule = (name: string, change: Partial<RuleResponse> = {}): RuleResponse => ({
  ...{ type: 'alerting', name, state: 'inactive', health: 'ok', labels: { severity: 'warning' }, annotations: {} },
  ...{ alerts: [], lastEvaluation: '2026-11-23T15:00:00Z' },
  ...change,
});
const alert = (state: string, activeAt: string, labels = {}) => ({ labels, annotations: {}, state, activeAt });

test('rules of the project are known by their names or groups', () => {
  const groups = [
    { name: 'llmbench-mine', rules: [rule('Mine'), { type: 'recording', name: 'a:b:c' }] },
    { name: 'other', rules: [rule('LlmPreemptions'), rule('Llmx'), rule('HighLoad')] },
  ];
  expect(ownRules(groups, 'prometheus').map(({ name }) => name)).toEqual(['Mine', 'LlmPreemptions']);
});

test('states of Prometheus and of Grafana, the firing and severe ones first', () => {
  const rules = ownRules(
    [
      {
        name: 'llmbench-x',
        rules: [
          rule('LlmA', { alerts: [alert('pending', '2026-11-23T15:00:00Z')], labels: { severity: 'critical' } }),
          rule('LlmB', {
            alerts: [
              alert('Normal', '2026-11-23T15:00:00Z'),
              alert('Normal (NoData)', '2026-11-23T15:00:00Z'),
              alert('Alerting', '2026-11-23T14:00:00Z'),
              alert('Alerting (NoData)', '2026-11-23T14:30:00Z'),
            ],
          }),
          rule('LlmC', { alerts: [alert('firing', '0001-01-01T00:00:00Z')], labels: { severity: 'critical' } }),
          rule('LlmD', { alerts: null }),
        ],
      },
    ],
    'grafana'
  );
  expect(activeAlerts(rules).map(({ rule: { name }, state, since }) => [name, state, since])).toEqual([
    ['LlmC', 'firing', null],
    ['LlmB', 'firing', '2026-11-23T14:30:00Z'],
    ['LlmB', 'firing', '2026-11-23T14:00:00Z'],
    ['LlmA', 'pending', '2026-11-23T15:00:00Z'],
  ]);
});

test('one entry per rule, those for information last and not counted as firing', () => {
  const rules = ownRules(
    [
      {
        name: 'llmbench-x',
        rules: [
          rule('LlmInfo', {
            labels: { severity: 'info' },
            alerts: [alert('firing', '2026-11-23T15:02:00Z', { scenario: 'a' })],
          }),
          rule('LlmWarning', {
            alerts: [
              alert('firing', '2026-11-23T15:00:00Z', { scenario: 'a' }),
              alert('firing', '2026-11-23T15:01:00Z', { scenario: 'b' }),
              alert('pending', '2026-11-23T15:01:00Z', { scenario: 'c' }),
            ],
          }),
        ],
      },
    ],
    'prometheus'
  );
  const alerts = activeAlerts(rules);
  const folded = alertsByRule(alerts).map((one) => [
    one.rule.name,
    one.alerts.map(({ labels }) => labels['scenario']).join(),
  ]);
  expect(folded).toEqual([
    ['LlmWarning', 'b,a,c'],
    ['LlmInfo', 'a'],
  ]);
  expect(calling(alerts, 'firing')).toHaveLength(2);
});

test('an evaluation error is that of Prometheus or of Grafana; no data is none', () => {
  const errors = ownRules(
    [
      {
        name: 'llmbench-x',
        rules: [
          rule('LlmA', { health: 'err', lastError: 'many-to-many matching' }),
          rule('LlmB', { health: 'error' }),
          rule('LlmC', { health: 'nodata' }),
          rule('LlmD', { health: 'unknown', lastEvaluation: '0001-01-01T00:00:00Z' }),
        ],
      },
    ],
    'grafana'
  );
  expect(errors.map(({ error }) => error)).toEqual(['many-to-many matching', 'error', null, null]);
  expect(errors.at(-1)?.lastEvaluation).toBeNull();
});

test('missing is what no source has; Grafana-managed rules do without the mark', () => {
  const [first, second, ...others] = SHIPPED_ALERTS.map(({ name }) => name);
  const group = (names: Array<string | undefined>) => [
    { name: 'llmbench-x', rules: names.map((name) => rule(name ?? '')) },
  ];
  const prometheus = ownRules(group([first]), 'prometheus');
  const grafana = ownRules(group([first, second]), 'grafana');
  expect(missingAlerts([...prometheus, ...grafana]).map(({ name }) => name)).toEqual(others);
  expect(missingAlerts(grafana).map(({ name }) => name)).toEqual(others.filter((name) => name !== ONLY_IN_PROMETHEUS));
  expect(loadedTwice([...prometheus, ...grafana])).toEqual([first]);
});

describe('what an alert is about', () => {
  const verdict = (run_ids: string[], more = {}) => ({ run_ids, baseline_run_ids: ['b'], left_out: null, ...more });
  const scenario = {
    verdict: verdict(['newest']),
    open_regression: { run_ids: ['first', 'x'], baseline_run_ids: ['b'] },
  } as unknown as ListedScenario;
  const regressed = { labels: { alertname: 'LlmScenarioRegressed' }, annotations: {} };

  test.each([
    [{ labels: { run_id: 'r' }, annotations: {} }, ['r']],
    [{ labels: {}, annotations: { description: 'Largest change: x p50 +30.1 %. Runs: a-1, b-2.' } }, ['a-1', 'b-2']],
    [{ labels: {}, annotations: { description: 'It did not meet it. Run: a-1.' } }, ['a-1']],
    [{ labels: { alertname: 'LlmScenarioUndecided' }, annotations: {} }, ['newest']],
    [regressed, ['first', 'x']],
  ])('the runs of %j are %j', (given, runs) => {
    expect(alertRuns(given, scenario)).toEqual(runs);
  });

  test('its comparison has every run of the open regression, as the alert names them', () => {
    expect(alertCompareUrl(regressed, scenario, '')).toMatch(/compare\?a=b&b=first&b=x$/);
    const undecided = { labels: { alertname: 'LlmScenarioUndecided' } };
    expect(alertCompareUrl(undecided, scenario, '')).toMatch(/compare\?a=b&b=newest$/);
    expect(alertCompareUrl(regressed, undefined, '')).toBeNull();
  });

  test('the ids of runs in a description go where their times are shown instead', () => {
    const text = 'Largest change: x p50 +30.1 %. Runs: a-1, b-2.';
    expect(withoutRuns(text, new Map([['b-2', {}]]))).toBe('Largest change: x p50 +30.1 %.');
    expect(withoutRuns(text, new Map())).toBe(text);
  });

  test('labels that every alert has are left out', () => {
    const labels = {
      alertname: 'A',
      severity: 's',
      __alert_rule_uid__: 'u',
      grafana_folder: 'f',
      scenario: 'chat',
      a: '',
    };
    expect(subjectLabels({ labels })).toEqual([['scenario', 'chat']]);
  });
});

test('rules that call for a look come first, the most severe ones before others', () => {
  const rules = [
    { state: 'inactive', severity: 'critical' },
    { state: 'firing', severity: 'info' },
    { state: 'error', severity: null },
    { state: 'firing', severity: 'critical' },
  ] as const;
  expect([...rules].sort(compareRules)).toEqual([rules[3], rules[1], rules[2], rules[0]]);
});
