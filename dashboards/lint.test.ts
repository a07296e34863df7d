import { describe, expect, test } from '@jest/globals';
import type { ClassicDashboard, ClassicPanel } from './classic-json.ts';
import { lint } from './lint.ts';

const datasource = { type: 'prometheus', uid: '${datasource}' };
const expr = 'sum by (instance) (rate(http_requests_total{job=~"$job",instance=~"$instance"}[$__rate_interval]))';

const panel: ClassicPanel = {
  id: 1,
  type: 'timeseries',
  title: 'Requests',
  description: 'Requests per second.',
  datasource,
  gridPos: { x: 0, y: 0, w: 24, h: 8 },
  fieldConfig: { defaults: { unit: 'reqps' }, overrides: [] },
  targets: [{ refId: 'A', expr, datasource }],
};

const server = { type: 'query', datasource, multi: true, allValue: '.+', refresh: 2 };

const good: ClassicDashboard = {
  id: null,
  uid: 'x',
  title: 'X',
  schemaVersion: 39,
  editable: false,
  tags: [],
  links: [],
  refresh: '10s',
  templating: {
    list: [
      { type: 'datasource', name: 'datasource', label: 'Data source', query: 'prometheus' },
      { ...server, name: 'job', label: 'Job', query: 'label_values(up, job)' },
      { ...server, name: 'instance', label: 'Instance', query: 'label_values(up{job=~"$job"}, instance)' },
    ],
  },
  annotations: { list: [] },
  panels: [panel],
};

function withPanel(change: Partial<ClassicPanel>): ClassicDashboard {
  return { ...good, panels: [{ ...panel, ...change }] };
}

function withExpr(changed: string): ClassicDashboard {
  return withPanel({ targets: [{ refId: 'A', expr: changed, datasource }] });
}

function withVariable(name: string, change: Readonly<Record<string, unknown>>): ClassicDashboard {
  const list = good.templating.list.map((variable) => (variable.name === name ? { ...variable, ...change } : variable));
  return { ...good, templating: { list } };
}

const fixed = { type: 'prometheus', uid: 'P1809F7CD0C75ACF3' };
const selector = '{job=~"$job",instance=~"$instance"}';

describe('lint', () => {
  test('has nothing against a dashboard that keeps the rules', () => {
    expect(lint(good)).toEqual([]);
  });

  test.each<[rule: string, dashboard: ClassicDashboard]>([
    ['template-datasource-rule', withVariable('datasource', { name: 'ds' })],
    ['template-datasource-rule', withVariable('datasource', { label: 'DS' })],
    ['template-job-rule', withVariable('job', { multi: false })],
    ['template-job-rule', withVariable('job', { datasource: fixed })],
    ['template-instance-rule', withVariable('instance', { allValue: '.*' })],
    ['template-instance-rule', withVariable('instance', { label: 'Server' })],
    ['template-label-promql-rule', withVariable('job', { query: 'label_values(up{, job)' })],
    ['template-on-time-change-reload-rule', withVariable('job', { refresh: 1 })],
    ['panel-datasource-rule', withPanel({ datasource: fixed })],
    ['panel-datasource-rule', withPanel({ targets: [{ refId: 'A', expr, datasource: fixed }] })],
    ['panel-title-description-rule', withPanel({ description: '' })],
    ['panel-title-description-rule', withPanel({ title: '' })],
    ['panel-units-rule', withPanel({ fieldConfig: { defaults: {}, overrides: [] } })],
    ['panel-units-rule', withPanel({ fieldConfig: { defaults: { unit: 'tok/s' }, overrides: [] } })],
    ['panel-units-rule', withPanel({ fieldConfig: { defaults: { unit: 'tokens' }, overrides: [] } })],
    ['panel-no-targets-rule', withPanel({ targets: [] })],
    ['target-logql-rule', withPanel({ targets: [{ refId: 'A', expr, datasource: { ...datasource, type: 'loki' } }] })],
    ['target-promql-rule', withExpr(`${expr})`)],
    ['target-promql-rule', withExpr('sum(up{job=~"$job,instance=~"$instance"})')],
    ['target-rate-interval-rule', withExpr(expr.replace('$__rate_interval', '5m'))],
    ['target-rate-interval-rule', withExpr(expr.replace('$__rate_interval', '$__interval'))],
    ['target-job-rule', withExpr('up{instance=~"$instance"}')],
    ['target-instance-rule', withExpr('up{job=~"$job"}')],
    ['target-counter-agg-rule', withExpr(`sum(http_requests_total${selector})`)],
    ['target-counter-agg-rule', withExpr(`max_over_time(http_requests_total${selector}[$__range])`)],
    ['uneditable-dashboard', { ...good, editable: true }],
  ])('%s', (rule, dashboard) => {
    expect(lint(dashboard).map((finding) => finding.rule)).toContain(rule);
  });

  test('takes a unit from an override, and none where values are mapped to text', () => {
    const override = { properties: [{ id: 'unit', value: 's' }] };
    expect(lint(withPanel({ fieldConfig: { defaults: {}, overrides: [override] } }))).toEqual([]);
    expect(lint(withPanel({ fieldConfig: { defaults: { mappings: [{}] }, overrides: [] } }))).toEqual([]);
  });
});
