import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Alert, EmptyState, LinkButton, LoadingPlaceholder, useStyles2 } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { usePage } from '../../hooks/page-context.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { OpenRegressions, useScenarios } from '../../components/OpenRegressions.tsx';
import { Tile, Tiles } from '../../components/Tile.tsx';
import { type Loaded, useLoaded } from '../../hooks/useLoaded.ts';
import { pageUrl, ROUTES } from '../../constants.ts';
import type { ListedScenario } from '../../../../core/api/scenarios.ts';
import { ActiveAlerts } from './ActiveAlerts.tsx';
import {
  activeAlerts,
  calling,
  loadedTwice,
  missingAlerts,
  ownRules,
  grafanaRules,
  prometheusRules,
  type AlertRule,
  type RuleSource,
} from './alert-rules.ts';
import { RuleTable } from './RuleTable.tsx';
import { t } from '../../text.ts';

/** The alert rules of the project in Prometheus and in Grafana, and what fires. */
export default function AlertsView() {
  const styles = useStyles2(getStyles);
  const { prometheus } = usePage();
  const inPrometheus = useRules('prometheus');
  const inGrafana = useRules('grafana');
  const scenarios = useScenarios();
  const rules = useMemo(
    () => [...(inPrometheus.data ?? []), ...(inGrafana.data ?? [])],
    [inPrometheus.data, inGrafana.data]
  );
  const isSettled = [inPrometheus, inGrafana].every(({ data, error, loading }) => data || error || !loading);
  const isBroken = inPrometheus.error !== undefined || inGrafana.error !== undefined;
  return (
    <div className={styles.page}>
      {prometheus === null && (
        <Alert
          severity="info"
          title={t(
            'alerts.no-prometheus',
            'No Prometheus data source is configured: only Grafana-managed rules are listed'
          )}
        />
      )}
      {inPrometheus.error && (
        <LoadProblem
          title={t('alerts.prometheus-problem', 'The rules of Prometheus could not be loaded')}
          error={inPrometheus.error}
          onRetry={inPrometheus.reload}
        />
      )}
      {inGrafana.error && (
        <LoadProblem
          title={t('alerts.grafana-problem', 'The Grafana-managed rules could not be loaded')}
          error={inGrafana.error}
          onRetry={inGrafana.reload}
        />
      )}
      {!isSettled && <LoadingPlaceholder text={t('alerts.loading', 'Loading the rules …')} />}
      {isSettled && rules.length === 0 && !isBroken && <NoRules />}
      <OpenRegressions scenarios={scenarios} />
      {rules.length > 0 && <Rules rules={rules} scenarios={scenarios} isComplete={isSettled && !isBroken} />}
    </div>
  );
}

interface RulesProps {
  rules: readonly AlertRule[];
  scenarios: ReadonlyMap<string, ListedScenario>;
  /** Whether every source has answered: only then it is known what is missing. */
  isComplete: boolean;
}

function Rules({ rules, scenarios, isComplete }: RulesProps) {
  const alerts = activeAlerts(rules);
  const missing = isComplete ? missingAlerts(rules) : null;
  const twice = loadedTwice(rules);
  const failed = rules.filter(({ error }) => error !== null).length;
  const [firing, pending] = [calling(alerts, 'firing').length, calling(alerts, 'pending').length];
  const forInformation = alerts.filter(({ state }) => state === 'firing').length - firing;
  return (
    <>
      {twice.length > 0 && (
        <Alert
          severity="warning"
          title={t(
            'alerts.twice',
            '{{count}} rules are loaded in Prometheus and in Grafana: each alert notifies twice',
            {
              count: twice.length,
            }
          )}
        >
          {t(
            'alerts.twice-how',
            'Load either prometheus/alerts in Prometheus or grafana-plugin/provisioning/alerting in Grafana.'
          )}
        </Alert>
      )}
      <Tiles>
        <Tile
          label={t('alerts.firing', 'Firing')}
          value={firing}
          {...(firing > 0 && { mood: 'bad' })}
          {...(forInformation > 0 && {
            detail: t('alerts.information', '{{count}} more for information', { count: forInformation }),
          })}
        />
        <Tile label={t('alerts.pending', 'Pending')} value={pending} {...(pending > 0 && { mood: 'warning' })} />
        <Tile
          label={t('alerts.errors', 'Rules with errors')}
          value={failed}
          {...(failed > 0 && { mood: 'bad' })}
          meaning={t('alerts.errors-meaning', 'Rules whose last evaluation failed: their alerts cannot fire')}
        />
        <Tile
          label={t('alerts.missing', 'Missing rules')}
          value={missing === null ? '–' : missing.length}
          {...(missing !== null && missing.length > 0 && { mood: 'warning' })}
          meaning={t('alerts.missing-meaning', 'Alerts of the project that neither Prometheus nor Grafana has loaded')}
        />
      </Tiles>
      <ActiveAlerts alerts={alerts} scenarios={scenarios} />
      <RuleTable rules={rules} missing={missing ?? []} />
    </>
  );
}

function NoRules() {
  return (
    <EmptyState
      variant="call-to-action"
      message={t('alerts.none', 'No alert rules of llmbench are loaded')}
      button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('alerts.to-setup', 'Set up')}</LinkButton>}
    >
      {t(
        'alerts.none-how',
        'Copy prometheus/rules and prometheus/alerts next to prometheus.yml, name them under rule_files, and reload Prometheus. For alerts in Grafana instead, provision grafana-plugin/provisioning/alerting.'
      )}
    </EmptyState>
  );
}

/** The rules of one source; read again when the page is refreshed. */
function useRules(source: RuleSource): Loaded<AlertRule[]> {
  const { prometheus, time } = usePage();
  const load = useCallback(
    async (signal: AbortSignal) =>
      ownRules(
        await (source === 'prometheus' ? prometheusRules(prometheus ?? '', signal) : grafanaRules(signal)),
        source
      ),
    // A new time object means that the page was refreshed.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [source, prometheus, time]
  );
  return useLoaded(source === 'prometheus' && prometheus === null ? null : load);
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
});
