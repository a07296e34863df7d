import * as units from '@grafana/grafana-foundation-sdk/units';
import { maskStrings, selectors } from '../prometheus/promql.ts';
import { panelsOf, type ClassicDashboard, type ClassicPanel, type ClassicVariable } from './classic-json.ts';

/** What a rule has against a dashboard. */
export interface Finding {
  readonly rule: string;
  /** Id of the panel; null when it is about the whole dashboard. */
  readonly panel: number | null;
  /** The metric that it is about, where it is about one. */
  readonly metric: string | null;
  readonly message: string;
}

const VALID_UNITS: ReadonlySet<unknown> = new Set(Object.values(units));
/** What Grafana's Prometheus data source takes; the PromQL of query_result is tried by a real Prometheus. */
const VARIABLE_QUERY = /^(label_values\(([a-zA-Z_:][\w:]*(\{[^{}]*\})?|\{[^{}]+\}), \w+\)|query_result\(.+\))$/;
const DATASOURCE_VARIABLE = '${datasource}';
const DESCRIBED = new Set(['stat', 'singlestat', 'graph', 'table', 'timeseries', 'gauge']);

/** The rules of grafana/dashboard-linter, restated for dashboards whose only data source is Prometheus. */
export function lint(dashboard: ClassicDashboard): readonly Finding[] {
  return [...lintDashboard(dashboard), ...panelsOf(dashboard).flatMap(lintPanel)];
}

function lintDashboard(dashboard: ClassicDashboard): readonly Finding[] {
  const variables = dashboard.templating.list;
  const say = (rule: string, message: string): Finding => ({ rule, panel: null, metric: null, message });
  const findings: Finding[] = [];
  const source = variables.filter(({ type }) => type === 'datasource');
  if (source.length !== 1 || source[0]?.name !== 'datasource' || source[0].label !== 'Data source') {
    findings.push(say('template-datasource-rule', 'one data source variable `datasource`, labeled "Data source"'));
  }
  for (const [name, label] of [
    ['job', 'Job'],
    ['instance', 'Instance'],
  ] as const) {
    const variable = variables.find((candidate) => candidate.name === name);
    if (variable === undefined || !isServerVariable(variable, label)) {
      findings.push(say(`template-${name}-rule`, `a query variable \`${name}\`, labeled, multi, allValue .+`));
    }
  }
  for (const variable of variables.filter(({ type }) => type === 'query')) {
    if (!VARIABLE_QUERY.test(variableQuery(variable))) {
      findings.push(say('template-label-promql-rule', `variable ${variable.name}: ${variableQuery(variable)}`));
    }
    if (variable.refresh !== 2) {
      findings.push(say('template-on-time-change-reload-rule', `variable ${variable.name} keeps old values`));
    }
  }
  if (dashboard.editable) findings.push(say('uneditable-dashboard', 'the dashboard is editable'));
  return findings;
}

function isServerVariable(variable: ClassicVariable, label: string): boolean {
  const { type, multi, allValue, datasource } = variable;
  const matches = type === 'query' && multi === true && allValue === '.+' && variable.label === label;
  return matches && datasource?.uid === DATASOURCE_VARIABLE;
}

/** The text of a variable's query, which Grafana keeps plain or in an object. */
export function variableQuery({ query }: ClassicVariable): string {
  return typeof query === 'string' ? query : (query?.query ?? '');
}

function lintPanel(panel: ClassicPanel): readonly Finding[] {
  const say = (rule: string, message: string, metric: string | null = null): Finding => ({
    rule,
    panel: panel.id,
    metric,
    message,
  });
  const findings: Finding[] = [];
  const targets = panel.targets ?? [];
  // A target without a data source has that of its panel.
  const sources = [panel, ...targets.filter(({ datasource }) => datasource !== undefined)];
  if (sources.some(({ datasource }) => datasource?.uid !== DATASOURCE_VARIABLE)) {
    findings.push(say('panel-datasource-rule', 'a data source that is not the variable'));
  }
  if (sources.some(({ datasource }) => datasource?.type !== 'prometheus')) {
    findings.push(say('target-logql-rule', 'a target that is not PromQL: the rules for LogQL are not restated here'));
  }
  if (DESCRIBED.has(panel.type)) {
    if (!panel.title || !panel.description) findings.push(say('panel-title-description-rule', 'title or description'));
    if (targets.length === 0) findings.push(say('panel-no-targets-rule', 'no target'));
    const unit = invalidUnit(panel);
    if (unit !== null) findings.push(say('panel-units-rule', `unit ${unit}`));
  }
  for (const { expr } of targets) findings.push(...lintExpression(expr, say));
  return findings;
}

/** A unit that Grafana does not know; `-` where none is set; null: all is well. */
function invalidUnit({ fieldConfig }: ClassicPanel): string | null {
  const properties = (fieldConfig?.overrides ?? []).flatMap((override) => override.properties);
  const overriding = properties.flatMap(({ id, value }) => (id === 'unit' && typeof value === 'string' ? [value] : []));
  const inUse = [fieldConfig?.defaults.unit, ...overriding].filter((unit) => unit !== undefined);
  if ((fieldConfig?.defaults.mappings ?? []).length > 0) return null;
  const invalid = inUse.find((unit) => !VALID_UNITS.has(unit));
  return invalid ?? (inUse.length === 0 ? '-' : null);
}

type Say = (rule: string, message: string, metric?: string | null) => Finding;

function lintExpression(expr: string, say: Say): readonly Finding[] {
  const findings: Finding[] = [];
  // The grammar itself is checked by a real Prometheus (dashboards.itest.ts); here what a slip of a template leaves.
  if (!isBalanced(expr)) findings.push(say('target-promql-rule', expr));
  for (const { metric: name, matchers } of selectors(expr)) {
    const metric = name || (matchers.find(({ label }) => label === '__name__')?.value ?? '');
    for (const label of ['job', 'instance']) {
      const chosen = matchers.some((matcher) => matcher.label === label && isChoice(matcher.value, label));
      if (chosen) continue;
      findings.push(say(`target-${label}-rule`, `${metric} without ${label}=~"$${label}"`, metric));
    }
  }
  for (const [, range] of maskStrings(expr).matchAll(/\bi?rate\([^[\]()]*\[([^\]]*)\]/g)) {
    if (range !== '$__rate_interval') findings.push(say('target-rate-interval-rule', `a rate over ${range ?? ''}`));
  }
  for (const [, fn, metric] of maskStrings(expr).matchAll(/(?:(\w+)\()?\b([a-zA-Z_:][\w:]*_total)\b/g)) {
    if (['rate', 'irate', 'increase'].includes(fn ?? '')) continue;
    findings.push(say('target-counter-agg-rule', `${metric ?? ''} outside a rate`, metric ?? null));
  }
  return findings;
}

/** A heatmap is repeated for the chosen instances that have it. */
function isChoice(value: string, label: string): boolean {
  return value === `$${label}` || value === `$heatmap_${label}`;
}

function isBalanced(expr: string): boolean {
  const open: string[] = [];
  const closes: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
  for (const character of expr.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')) {
    if ('([{'.includes(character)) open.push(character);
    else if (character === '"') return false;
    else if (character in closes && open.pop() !== closes[character]) return false;
  }
  return open.length === 0;
}
