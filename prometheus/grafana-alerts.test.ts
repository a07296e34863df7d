import { describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { renderGrafanaAlerts } from './grafana-alerts.ts';
import { ruleFiles } from './known-metrics.ts';

interface GrafanaRule {
  readonly uid: string;
  readonly title: string;
  readonly condition: string;
  readonly noDataState: string;
  readonly execErrState: string;
  readonly for: string;
  readonly keepFiringFor?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly data: readonly {
    readonly refId: string;
    readonly datasourceUid: string;
    readonly relativeTimeRange: { readonly from: number; readonly to: number };
    readonly model: { readonly refId: string; readonly expr?: string };
  }[];
}

const { groups } = parse(renderGrafanaAlerts()) as {
  readonly groups: readonly { readonly interval: string; readonly rules: readonly GrafanaRule[] }[];
};
const RULES = groups.flatMap(({ rules }) => rules);
const ALERTS = ruleFiles('alerts').flatMap(([, rules]) => rules);
const ruleOf = (name: string): GrafanaRule => {
  const found = RULES.find(({ title }) => title === name);
  if (found === undefined) throw new Error(`no rule ${name}`);
  return found;
};
const queryOf = (name: string): string => ruleOf(name).data[0]?.model.expr ?? '';

test('the provisioned file is the generated one (else: node prometheus/generate.ts)', async () => {
  const committed = await readFile(
    new URL('../grafana-plugin/provisioning/alerting/llmbench.yaml', import.meta.url),
    'utf8',
  );
  expect(renderGrafanaAlerts()).toBe(committed);
});

describe('the Grafana-managed rules', () => {
  test('are all alerts of Prometheus but the mark for inhibition, with the same times and labels', () => {
    const alerts = ALERTS.filter(({ alert }) => alert !== undefined && alert !== 'LlmBenchmarkRunning');
    expect(RULES.map((rule) => [rule.title, rule.for, rule.keepFiringFor, rule.labels])).toEqual(
      alerts.map((rule) => [rule.alert, rule.for ?? '0s', rule.keep_firing_for, rule.labels]),
    );
  });

  test('have only fields of Grafana’s provisioning files, with values that it accepts', () => {
    // pkg/services/provisioning/alerting/rules_types.go and pkg/services/ngalert/models of Grafana.
    const fields = [
      ...['uid', 'title', 'condition', 'data', 'dashboardUid', 'panelId', 'noDataState', 'execErrState', 'for'],
      ...['keepFiringFor', 'missing_series_evals_to_resolve', 'annotations', 'labels', 'isPaused'],
      ...['notification_settings', 'record'],
    ];
    const queryFields = ['refId', 'queryType', 'relativeTimeRange', 'datasourceUid', 'model'];
    for (const group of groups) {
      expect(Object.keys(group).sort()).toEqual(['folder', 'interval', 'name', 'orgId', 'rules']);
      // Grafana evaluates every 10 s or a multiple of it.
      expect(group.interval).toMatch(/^[1-9]\d*0s$/);
    }
    for (const rule of RULES) {
      expect(fields).toEqual(expect.arrayContaining(Object.keys(rule)));
      // No series is no alert, as in Prometheus; a query that fails is reported instead of being taken for health.
      expect([rule.noDataState, rule.execErrState]).toEqual(['OK', 'Error']);
      expect(rule.data.map(({ refId }) => refId)).toContain(rule.condition);
      for (const query of rule.data) {
        expect(queryFields).toEqual(expect.arrayContaining(Object.keys(query)));
        expect(query.model.refId).toBe(query.refId);
        const { from, to } = query.relativeTimeRange;
        expect(from > to || query.datasourceUid === '__expr__').toBe(true);
      }
      for (const duration of [rule.for, rule.keepFiringFor ?? '0s']) expect(duration).toMatch(/^\d+[smhd]$/);
    }
  });

  test('query what the alert of Prometheus does', () => {
    const recorded = ALERTS.filter(({ record }) => record !== undefined);
    for (const { alert, expr } of ALERTS.filter(
      (rule) => rule.alert !== undefined && rule.alert !== 'LlmBenchmarkRunning',
    )) {
      const inlined = recorded.reduce(
        (query, { record = '', expr: definition }) => query.replaceAll(record, `(${definition.trim()})`),
        expr.trim(),
      );
      expect(queryOf(alert ?? '')).toContain(inlined);
    }
  });

  test('have identifiers that Grafana accepts, each once', () => {
    for (const { uid } of RULES) expect(uid).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
    expect(new Set(RULES.map(({ uid }) => uid)).size).toBe(RULES.length);
  });

  test('depend on no recording rule that is loaded with the alerts of Prometheus', () => {
    const recorded = ALERTS.flatMap(({ record }) => record ?? []);
    expect(recorded.length).toBeGreaterThan(0);
    for (const { title } of RULES) for (const record of recorded) expect(queryOf(title)).not.toContain(record);
  });

  test('use only template functions and variables that Grafana has', () => {
    // pkg/services/ngalert/state/template: Prometheus' expander without its queries, and Go's own functions.
    const functions = ['externalURL', 'humanize', 'humanizeDuration', 'humanizePercentage', 'reReplaceAll'];
    for (const { annotations } of RULES) {
      const texts = Object.values(annotations).join(' ');
      const actions = Array.from(texts.matchAll(/\{\{-? *(.+?) *-?\}\}/g), ([, action = '']) => action);
      const names = actions.flatMap((action) => action.replaceAll(/"[^"]*"|\$[\w.]+/g, '').match(/\w+/g) ?? []);
      expect([...functions, 'printf', 'urlquery']).toEqual(expect.arrayContaining(names));
      const variables = actions.flatMap((action) => action.replaceAll(/"[^"]*"/g, '').match(/\$\w+/g) ?? []);
      expect(['$labels', '$values']).toEqual(expect.arrayContaining(variables));
      // File provisioning replaces it by a variable of Grafana's environment.
      expect(texts).not.toContain('${');
    }
    expect(ruleOf('LlmScenarioUndecided').annotations['description']).toContain('{{ $values.query.Value }} checks');
  });

  test('link to the run or to the runs of the scenario in the app', () => {
    expect(ruleOf('LlmScenarioRegressed').annotations).toMatchObject({
      description: 'The judge found a regression of scenario {{ $labels.scenario }}, and nothing has ended it.',
      runs: '{{ externalURL }}a/llmbench-observability-app/runs?scenario={{ urlquery $labels.scenario }}',
    });
    expect(ruleOf('LlmClientSaturated').annotations['runs']).toBe(
      '{{ externalURL }}a/llmbench-observability-app/runs/{{ urlquery $labels.run_id }}',
    );
  });

  test('name the run that missed an objective, by a query with its id that has the same series', () => {
    const { annotations, data } = ruleOf('LlmObjectiveMissed');
    expect(annotations['description']).toMatch(
      /^The newest run of scenario .* Run: \{\{ \$values\.run\.Labels\.run_id \}\}\.$/,
    );
    expect(annotations['runs']).toBe(
      '{{ externalURL }}a/llmbench-observability-app/runs/{{ urlquery $values.run.Labels.run_id }}',
    );
    const run = data.find(({ refId }) => refId === 'run')?.model.expr ?? '';
    expect(run.replace('(scenario, slo, run_id)', '(scenario, slo)')).toBe(queryOf('LlmObjectiveMissed'));
    expect(run).toMatch(/^min by \(scenario, slo, run_id\)/);
  });

  test('leave out servers under a benchmark where Alertmanager would inhibit', () => {
    const except = 'unless on (instance) last_over_time(up{job="llmbench-server"}[10m])';
    for (const name of ['LlmQueueSaturated', 'LlmKvCachePressure', 'LlmPreemptions', 'LlmTimeToFirstTokenBurn']) {
      expect(queryOf(name)).toContain(except);
    }
    for (const name of ['LlmErrorShareHigh', 'LlmTargetDown']) expect(queryOf(name)).not.toContain(except);
  });
});
