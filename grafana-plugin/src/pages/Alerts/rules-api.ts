import { getBackendSrv, isFetchError } from '@grafana/runtime';
import { t } from '@grafana/i18n';
import { lastValueFrom } from 'rxjs';
import { NAME_PREFIX } from './shipped-alerts.ts';

/** The rules of Prometheus' `/api/v1/rules`; Grafana answers for its own in the same form. */
export interface RulesResponse {
  status: string;
  data: { groups: RuleGroupResponse[] };
}

export interface RuleGroupResponse {
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

export interface AlertResponse {
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
