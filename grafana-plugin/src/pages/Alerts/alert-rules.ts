import type { AlertResponse, RuleResponse, RuleGroupResponse } from './rules-api.ts';
import { GROUP_PREFIX, NAME_PREFIX, ONLY_IN_PROMETHEUS, SHIPPED_ALERTS, type ShippedAlert } from './shipped-alerts.ts';

/** Who evaluates a rule. */
export type RuleSource = 'prometheus' | 'grafana';
export type AlertState = 'firing' | 'pending';

export interface AlertRule {
  source: RuleSource;
  name: string;
  group: string;
  severity: string | null;
  /** Why it could not be evaluated; null where it could. */
  error: string | null;
  /** RFC 3339; null before the first evaluation. */
  lastEvaluation: string | null;
  isPaused: boolean;
  runbook: string | null;
  /** Of a Grafana-managed rule; null of another. */
  uid: string | null;
  /** The firing and pending ones. */
  alerts: ActiveAlert[];
}

export interface ActiveAlert {
  state: AlertState;
  /** RFC 3339; null where it is not known. */
  since: string | null;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/** The alert rules of the project in a response, in its order. */
export function ownRules(groups: readonly RuleGroupResponse[], source: RuleSource): AlertRule[] {
  return groups.flatMap(({ name: group, rules }) =>
    rules
      .filter(({ type, name }) => type === 'alerting' && isOwn(name, group))
      .map((rule) => alertRule(rule, group, source))
  );
}

/** Whether by its name or by its group. */
function isOwn(name: string, group: string): boolean {
  return new RegExp(`^${NAME_PREFIX}[A-Z]`).test(name) || group.startsWith(GROUP_PREFIX);
}

function alertRule(rule: RuleResponse, group: string, source: RuleSource): AlertRule {
  const { name, labels, annotations, alerts, uid, isPaused = false } = rule;
  return {
    source,
    name,
    group,
    severity: labels?.['severity'] ?? null,
    error: errorOf(rule),
    lastEvaluation: time(rule.lastEvaluation),
    isPaused,
    runbook: annotations?.['runbook_url'] ?? null,
    uid: uid ?? null,
    alerts: (alerts ?? []).flatMap((alert) => activeAlert(alert) ?? []),
  };
}

function errorOf({ health, lastError }: RuleResponse): string | null {
  return health === 'err' || health === 'error' ? lastError || health : null;
}

/** Null for an alert that is neither firing nor pending. Grafana keeps one that recovers firing. */
function activeAlert({ labels, annotations, state, activeAt }: AlertResponse): ActiveAlert | null {
  const [word = ''] = state.toLowerCase().split(' ');
  const active = { firing: 'firing', alerting: 'firing', recovering: 'firing', pending: 'pending' } as const;
  return Object.hasOwn(active, word)
    ? { state: active[word as keyof typeof active], since: time(activeAt), labels, annotations }
    : null;
}

/** Go's zero time is no time. */
function time(text: string | null | undefined): string | null {
  return text === undefined || text === null || text.startsWith('0001-') ? null : text;
}

/** The shipped alerts that no source has loaded. Grafana-managed rules do without one of them. */
export function missingAlerts(rules: readonly AlertRule[]): ShippedAlert[] {
  const loaded = new Set(rules.map(({ name }) => name));
  const inPrometheus = rules.some(({ source }) => source === 'prometheus');
  return SHIPPED_ALERTS.filter(({ name }) => !loaded.has(name) && (inPrometheus || name !== ONLY_IN_PROMETHEUS));
}

/** Names of alerts that both sources evaluate: each notifies. */
export function loadedTwice(rules: readonly AlertRule[]): string[] {
  const inGrafana = new Set(rules.filter(({ source }) => source === 'grafana').map(({ name }) => name));
  return [...new Set(rules.filter(({ source }) => source === 'prometheus').map(({ name }) => name))].filter((name) =>
    inGrafana.has(name)
  );
}

/** A firing or pending alert with its rule. */
export interface RuleAlert extends ActiveAlert {
  rule: AlertRule;
}

const INFO = 'info';
const SEVERITIES = ['critical', 'warning', INFO];

/** All firing and pending alerts: the firing ones first, then by severity, then the newest. */
export function activeAlerts(rules: readonly AlertRule[]): RuleAlert[] {
  const rank = ({ state, rule: { severity } }: RuleAlert) => {
    const at = SEVERITIES.indexOf(severity ?? '');
    return (state === 'firing' ? 0 : 10) + (at < 0 ? SEVERITIES.length : at);
  };
  return rules
    .flatMap((rule) => rule.alerts.map((alert) => ({ ...alert, rule })))
    .sort((a, b) => rank(a) - rank(b) || (b.since ?? '').localeCompare(a.since ?? ''));
}

/** The firing and pending alerts of one rule. */
export interface RuleAlerts {
  rule: AlertRule;
  /** In the order in which they were given; at least one. */
  alerts: readonly RuleAlert[];
}

/** One entry per rule, in the order of their first alerts; those for information come last. */
export function alertsByRule(alerts: readonly RuleAlert[]): RuleAlerts[] {
  const rules = new Map<AlertRule, RuleAlert[]>();
  for (const alert of alerts) {
    rules.set(alert.rule, [...(rules.get(alert.rule) ?? []), alert]);
  }
  const isInfo = ({ rule }: RuleAlerts) => Number(rule.severity === INFO);
  return [...rules].map(([rule, own]) => ({ rule, alerts: own })).sort((a, b) => isInfo(a) - isInfo(b));
}

/** Alerts that call for something: those for information fire, and nothing is wrong. */
export function calling(alerts: readonly RuleAlert[], state: AlertState): RuleAlert[] {
  return alerts.filter((alert) => alert.state === state && alert.rule.severity !== INFO);
}
