import { css } from '@emotion/css';
import { dateTimeFormat, dateTimeFormatTimeAgo, type GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Icon, LinkButton, TextLink, useStyles2 } from '@grafana/ui';
import React from 'react';
import { useLocation } from 'react-router-dom';
import { runUrl, trendsUrl } from '../../components/run-link.ts';
import { Section } from '../../components/Section.tsx';
import type { ListedScenario } from '../../../../core/api/scenarios.ts';
import { StateBadge } from './AlertBadges.tsx';
import type { RuleAlert } from './alert-rules.ts';
import { alertCompareUrl, alertRuns, subjectLabels } from './alert-subject.ts';
import { RunbookButton } from './Runbook.tsx';
import { sourceName } from './RuleTable.tsx';

const MAX_RUNS = 5;

interface Props {
  alerts: readonly RuleAlert[];
  /** From the exporter, by name; empty without one. */
  scenarios: ReadonlyMap<string, ListedScenario>;
}

/** The firing and pending alerts: since when, of which runs, and where to look. */
export function ActiveAlerts({ alerts, scenarios }: Props) {
  const styles = useStyles2(getStyles);
  return (
    <Section title={t('alerts.active', 'Firing and pending')}>
      {alerts.length === 0 ? (
        <p className={styles.quiet}>
          <Icon name="check-circle" className={styles.good} />
          {t('alerts.quiet', 'No alert is firing or pending.')}
        </p>
      ) : (
        <ul className={styles.list}>
          {alerts.map((alert) => (
            <li key={keyOf(alert)} className={styles.alert}>
              <Alert alert={alert} scenario={scenarios.get(alert.labels['scenario'] ?? '')} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function keyOf({ rule: { source, group, name }, labels }: RuleAlert): string {
  return JSON.stringify([source, group, name, labels]);
}

function Alert({ alert, scenario }: { alert: RuleAlert; scenario: ListedScenario | undefined }) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  const { rule, state, since, annotations, labels } = alert;
  const runs = alertRuns(alert, scenario);
  const compare = alertCompareUrl(alert, scenario, search);
  const name = labels['scenario'];
  return (
    <>
      <div className={styles.head}>
        <StateBadge state={state} />
        <strong>{annotations['summary'] ?? rule.name}</strong>
        {since !== null && (
          <span className={styles.facts} title={dateTimeFormat(since)}>
            {t('alerts.since', 'since {{time}} ({{ago}})', {
              time: dateTimeFormat(since),
              ago: dateTimeFormatTimeAgo(since),
              interpolation: { escapeValue: false },
            })}
          </span>
        )}
        <span className={styles.actions}>
          {compare !== null && (
            <LinkButton size="sm" variant="secondary" icon="layer-group" href={compare}>
              {t('alerts.compare', 'Compare with the baseline')}
            </LinkButton>
          )}
          {name && (
            <LinkButton size="sm" variant="secondary" icon="chart-line" href={trendsUrl(name, search)}>
              {t('alerts.trends', 'Trends')}
            </LinkButton>
          )}
          <RunbookButton alert={rule.name} url={rule.runbook} />
        </span>
      </div>
      {annotations['description'] && <p className={styles.text}>{annotations['description']}</p>}
      <div className={styles.facts}>
        <span>{[rule.name, rule.severity, sourceName(rule.source)].filter(Boolean).join(' · ')}</span>
        {subjectLabels(alert).map(([label, value]) => (
          <code key={label}>{`${label}=${value}`}</code>
        ))}
      </div>
      {runs.length > 0 && (
        <div className={styles.facts}>
          <span>{t('alerts.runs', 'Runs:')}</span>
          {runs.slice(0, MAX_RUNS).map((run_id) => (
            <TextLink
              key={run_id}
              variant="bodySmall"
              href={runUrl({ run_id, start: null, end: null, status: 'completed' }, search)}
            >
              {run_id}
            </TextLink>
          ))}
          {runs.length > MAX_RUNS && (
            <span>{t('alerts.more-runs', 'and {{count}} more', { count: runs.length - MAX_RUNS })}</span>
          )}
        </div>
      )}
    </>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  quiet: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(1), margin: 0 }),
  good: css({ color: theme.colors.success.text }),
  list: css({ listStyle: 'none', margin: 0, padding: 0 }),
  alert: css({
    display: 'flex',
    flexDirection: 'column',
    gap: theme.spacing(0.5),
    padding: theme.spacing(1.5, 0),
    '&:not(:last-child)': { borderBottom: `1px solid ${theme.colors.border.weak}` },
  }),
  head: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(1) }),
  actions: css({ marginLeft: 'auto', display: 'flex', flexWrap: 'wrap', gap: theme.spacing(1) }),
  text: css({ margin: 0, maxWidth: 1100, overflowWrap: 'anywhere' }),
  facts: css({
    ...theme.typography.bodySmall,
    display: 'flex',
    flexWrap: 'wrap',
    alignItems: 'center',
    gap: theme.spacing(0.5, 1),
    color: theme.colors.text.secondary,
    code: { overflowWrap: 'anywhere', whiteSpace: 'normal' },
  }),
});
