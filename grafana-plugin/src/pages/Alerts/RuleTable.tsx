import { dateTimeFormat } from '@grafana/data';
import { t } from '@grafana/i18n';
import { TextLink } from '@grafana/ui';
import React, { useMemo } from 'react';
import { ABSENT } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { pageUrl, ROUTES } from '../../constants/routes.ts';
import { type ShownState, StateBadge } from './AlertBadges.tsx';
import type { AlertRule, RuleSource } from './alert-rules.ts';
import { RunbookButton } from './Runbook.tsx';
import type { ShippedAlert } from './shipped-alerts.ts';

interface Props {
  rules: readonly AlertRule[];
  missing: readonly ShippedAlert[];
}

interface Row {
  key: string;
  state: ShownState;
  name: string;
  severity: string | null;
  /** Null for a rule that is missing. */
  rule: AlertRule | null;
}

/** Every alert rule of the project with its state, and those that are not loaded. */
export function RuleTable({ rules, missing }: Props) {
  const columns = useMemo(() => ruleColumns(), []);
  const rows = useMemo(() => [...rules.map(loadedRow), ...missing.map(missingRow)], [rules, missing]);
  return (
    <Section
      title={t('alerts.rules', 'Rules')}
      {...(missing.length > 0 && {
        description: (
          <>
            {t(
              'alerts.missing-why',
              'A missing rule is loaded neither in Prometheus nor in Grafana: its alert cannot fire.'
            )}{' '}
            <TextLink href={pageUrl(ROUTES.setup)} variant="bodySmall">
              {t('alerts.load-rules', 'Load the rules')}
            </TextLink>
          </>
        ),
      })}
    >
      <DataTable
        label={t('alerts.rules-label', 'Alert rules')}
        columns={columns}
        rows={rows}
        rowKey={({ key }) => key}
      />
    </Section>
  );
}

export function sourceName(source: RuleSource): string {
  return source === 'prometheus'
    ? t('alerts.source.prometheus', 'Prometheus')
    : t('alerts.source.grafana', 'Grafana-managed');
}

function loadedRow(rule: AlertRule, place: number): Row {
  const { source, group, name, severity } = rule;
  return { key: `${place} ${source} ${group} ${name}`, state: stateOf(rule), name, severity, rule };
}

function missingRow({ name, severity }: ShippedAlert): Row {
  return { key: name, state: 'missing', name, severity, rule: null };
}

function stateOf({ alerts, error, isPaused }: AlertRule): ShownState {
  if (isPaused) {
    return 'paused';
  }
  if (error !== null) {
    return 'error';
  }
  return alerts.some(({ state }) => state === 'firing') ? 'firing' : alerts.length > 0 ? 'pending' : 'inactive';
}

function ruleColumns(): Array<Column<Row>> {
  return [
    {
      id: 'state',
      header: t('alerts.column.state', 'State'),
      render: ({ state, severity }) => <StateBadge state={state} severity={severity} />,
    },
    {
      id: 'name',
      header: t('alerts.column.rule', 'Rule'),
      wraps: true,
      render: ({ name, rule }) => (
        <>
          {rule?.uid ? (
            <TextLink href={`/alerting/grafana/${encodeURIComponent(rule.uid)}/view`} variant="bodySmall">
              {name}
            </TextLink>
          ) : (
            name
          )}
          {rule?.error && <div role="alert">{rule.error}</div>}
        </>
      ),
    },
    {
      id: 'severity',
      header: t('alerts.column.severity', 'Severity'),
      render: ({ severity }) => severity ?? ABSENT,
    },
    {
      id: 'alerts',
      header: t('alerts.column.alerts', 'Alerts'),
      meaning: t('alerts.column.alerts-meaning', 'Firing and pending alerts of the rule'),
      align: 'right',
      render: ({ rule }) => (rule === null ? ABSENT : String(rule.alerts.length)),
    },
    {
      id: 'source',
      header: t('alerts.column.source', 'Evaluated by'),
      render: ({ rule }) => (rule === null ? ABSENT : sourceName(rule.source)),
    },
    {
      id: 'evaluated',
      header: t('alerts.column.evaluated', 'Last evaluation'),
      render: ({ rule }) => (rule?.lastEvaluation ? dateTimeFormat(rule.lastEvaluation) : ABSENT),
    },
    {
      id: 'runbook',
      header: t('alerts.column.runbook', 'Runbook'),
      render: ({ name, rule }) => <RunbookButton alert={name} url={rule?.runbook ?? null} />,
    },
  ];
}
