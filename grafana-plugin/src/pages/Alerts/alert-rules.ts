import { getBackendSrv, isFetchError } from '@grafana/runtime';
import { lastValueFrom } from 'rxjs';
import { t } from '../../text.ts';

/** An alert of the project's `prometheus/alerts`. */
export interface ShippedAlert {
  name: string;
  severity: 'critical' | 'warning' | 'info';
}

/** The alerts that the project ships, in the order of importance for a benchmark. */
export const SHIPPED_ALERTS: readonly ShippedAlert[] = [
  { name: 'LlmScenarioRegressed', severity: 'critical' },
  { name: 'LlmScenarioUndecided', severity: 'warning' },
  { name: 'LlmScenarioOverdue', severity: 'warning' },
  { name: 'LlmScenarioNeverCompleted', severity: 'warning' },
  { name: 'LlmObjectiveMissed', severity: 'warning' },
  { name: 'LlmScenarioSlowerHeuristic', severity: 'info' },
  { name: 'LlmClientSaturated', severity: 'warning' },
  { name: 'LlmBenchmarkRunning', severity: 'info' },
  { name: 'LlmErrorShareHigh', severity: 'critical' },
  { name: 'LlmTimeToFirstTokenBurn', severity: 'critical' },
  { name: 'LlmQueueSaturated', severity: 'warning' },
  { name: 'LlmKvCachePressure', severity: 'warning' },
  { name: 'LlmPreemptions', severity: 'warning' },
  { name: 'LlmTargetDown', severity: 'critical' },
  { name: 'LlmTargetSilent', severity: 'warning' },
  { name: 'LlmStorageUnreadable', severity: 'warning' },
];

/** It marks servers for Alertmanager; the Grafana-managed rules have it in their queries. */
export const ONLY_IN_PROMETHEUS = 'LlmBenchmarkRunning';

/** The names of the project's alerts begin with this, and those of its groups with `llmbench-`. */
const NAME_PREFIX = 'Llm';
const GROUP_PREFIX = 'llmbench-';

/** The rules of Prometheus' `/api/v1/rules`; Grafana answers for its own in the same form. */
export interface RulesResponse {
  status: string;
  data: { groups: RuleGroupResponse[] };
}

interface RuleGroupResponse {
  name: string;
  rules: RuleResponse[];
}

export interface RuleResponse {
  type: string;
  name: string;
  /** Prometheus: firing, pending, inactive, unknown; Grafana: also recovering. */
  state?: string;
  /** Prometheus: ok, err, unknown; Grafana: ok, error, nodata, unknown. */
  health?: string;
  lastError?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  alerts?: AlertResponse[] | null;
  lastEvaluation?: string;
  /** Grafana only. */
  uid?: string;
  isPaused?: boolean;
}

interface AlertResponse {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Prometheus: firing, pending; Grafana: Alerting, Pending, Normal, Recovering …, with a reason in parentheses. */
  state: string;
  activeAt?: string | null;
}

/** The alert rules that a Prometheus evaluates, by the resources of its data source. Rejects when it does not answer. */
export function prometheusRules(uid: string, signal: AbortSignal): Promise<RuleGroupResponse[]> {
  return groupsAt(`/api/datasources/uid/${uid}/resources/api/v1/rules?type=alert`, signal);
}

/** The rules that Grafana evaluates and the user may see. Rejects when it does not answer. */
export function grafanaRules(signal: AbortSignal): Promise<RuleGroupResponse[]> {
  return groupsAt(`/api/prometheus/grafana/api/v1/rules?search.rule_name=${NAME_PREFIX}`, signal);
}

async function groupsAt(url: string, abortSignal: AbortSignal): Promise<RuleGroupResponse[]> {
  try {
    const { data } = await lastValueFrom(
      getBackendSrv().fetch<RulesResponse>({ url, method: 'GET', showErrorAlert: false, abortSignal })
    );
    if (data?.status !== 'success' || !Array.isArray(data.data?.groups)) {
      throw new Error(t('alerts.no-rules-api', 'The answer is not that of the rules API of Prometheus.'));
    }
    return data.data.groups;
  } catch (error) {
    throw rulesError(error);
  }
}

function rulesError(thrown: unknown): Error {
  if (!isFetchError(thrown)) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
  const { status, data } = thrown as { status: number; data?: { message?: string; error?: string } };
  const reason = data?.error ?? data?.message;
  const text = t('alerts.http-status', 'HTTP {{status}}', { status });
  return new Error(reason ? `${text}: ${reason}` : text);
}

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

function severityRank(severity: string | null): number {
  const at = SEVERITIES.indexOf(severity ?? '');
  return at < 0 ? SEVERITIES.length : at;
}

/** What is shown of a rule or an alert. */
export type ShownState = AlertState | 'inactive' | 'error' | 'missing' | 'paused';
const STATES: readonly ShownState[] = ['firing', 'error', 'pending', 'missing', 'paused', 'inactive'];

/** Orders rules by what calls for a look, then by severity. */
export function compareRules<Rule extends { state: ShownState; severity: string | null }>(a: Rule, b: Rule): number {
  return STATES.indexOf(a.state) - STATES.indexOf(b.state) || severityRank(a.severity) - severityRank(b.severity);
}

/** All firing and pending alerts: the firing ones first, then by severity, then the newest. */
export function activeAlerts(rules: readonly AlertRule[]): RuleAlert[] {
  const rank = ({ state, rule: { severity } }: RuleAlert) => (state === 'firing' ? 0 : 10) + severityRank(severity);
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
