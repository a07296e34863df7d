import {
  Badge,
  Button,
  Drawer,
  LinkButton,
  LoadingPlaceholder,
  RenderUserContentAsHTML,
  TextLink,
  type BadgeColor,
} from '@grafana/ui';
import React, { useCallback, useMemo, useState } from 'react';
import { renderMarkdown, dateTimeFormat } from '@grafana/data';
import { getBackendSrv } from '@grafana/runtime';
import { lastValueFrom } from 'rxjs';
import { ABSENT } from '../../../../core/text/quantities.ts';
import { DataTable, type Column } from '../../components/DataTable.tsx';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { PLUGIN_ID, pageUrl, ROUTES } from '../../constants.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import {
  compareRules,
  SHIPPED_ALERTS,
  type AlertRule,
  type RuleSource,
  type ShippedAlert,
  type ShownState,
} from './alert-rules.ts';
import { t } from '../../text.ts';

const COLORS: Record<ShownState, BadgeColor> = {
  firing: 'red',
  pending: 'orange',
  inactive: 'green',
  error: 'purple',
  missing: 'darkgrey',
  paused: 'blue',
};

const FIRING_COLORS: Readonly<Record<string, BadgeColor>> = { critical: 'red', warning: 'orange', info: 'blue' };

interface AlertBadgesProps {
  state: ShownState;
  /** Of the rule, which colors what fires; null: not known. */
  severity?: string | null;
}

export function StateBadge({ state, severity = null }: AlertBadgesProps) {
  const color = state === 'firing' ? (FIRING_COLORS[severity ?? ''] ?? COLORS.firing) : COLORS[state];
  return <Badge text={stateText(state)} color={color} />;
}

function stateText(state: ShownState): string {
  switch (state) {
    case 'firing':
      return t('alerts.state.firing', 'firing');
    case 'pending':
      return t('alerts.state.pending', 'pending');
    case 'inactive':
      return t('alerts.state.inactive', 'inactive');
    case 'error':
      return t('alerts.state.error', 'error');
    case 'missing':
      return t('alerts.state.missing', 'missing');
    case 'paused':
      return t('alerts.state.paused', 'paused');
  }
}

interface RunbookProps {
  alert: string;
  /** The rule's annotation; null where it has none. */
  url: string | null;
}

/** The runbook of an alert: at its address, or the one that comes with the app. Nothing for a rule without either. */
export function RunbookButton({ alert, url }: RunbookProps) {
  const [isOpen, setOpen] = useState(false);
  const label = t('alerts.runbook-of', 'Runbook of {{alert}}', { alert });
  const text = t('alerts.runbook', 'Runbook');
  if (url !== null && isReachable(url)) {
    return (
      <LinkButton
        size="sm"
        variant="secondary"
        fill="text"
        icon="book"
        href={url}
        target="_blank"
        rel="noreferrer"
        aria-label={label}
      >
        {text}
      </LinkButton>
    );
  }
  if (!SHIPPED_ALERTS.some(({ name }) => name === alert)) {
    return null;
  }
  return (
    <>
      <Button size="sm" variant="secondary" fill="text" icon="book" onClick={() => setOpen(true)} aria-label={label}>
        {text}
      </Button>
      {isOpen && (
        <Drawer title={label} size="md" onClose={() => setOpen(false)}>
          <Runbook alert={alert} />
        </Drawer>
      )}
    </>
  );
}

/** A path in the project is no address, and the rules as shipped name an exporter on the loopback address. */
function isReachable(url: string): boolean {
  return /^https?:\/\/(?!127\.|localhost\b|\[::1\])/.test(url);
}

function Runbook({ alert }: { alert: string }) {
  const load = useCallback((signal: AbortSignal) => loadRunbook(alert, signal), [alert]);
  const { data, error, reload } = useLoaded(load);
  const html = useMemo(() => (data === undefined ? '' : renderMarkdown(runbookText(data))), [data]);
  if (error) {
    return (
      <LoadProblem
        title={t('alerts.runbook-problem', 'The runbook could not be loaded')}
        error={error}
        onRetry={reload}
      />
    );
  }
  return data === undefined ? (
    <LoadingPlaceholder text={t('alerts.runbook-loading', 'Loading the runbook …')} />
  ) : (
    <RenderUserContentAsHTML className="markdown-html" content={html} />
  );
}

async function loadRunbook(alert: string, abortSignal: AbortSignal): Promise<string> {
  const url = `public/plugins/${PLUGIN_ID}/runbooks/${alert}.md`;
  const response = await lastValueFrom(
    getBackendSrv().fetch<string>({ url, responseType: 'text', showErrorAlert: false, abortSignal })
  );
  return response.data;
}

/** Without its title, which the drawer has, and without links to files that are not in the app. */
export function runbookText(markdown: string): string {
  return markdown.replace(/^# .*\n+/, '').replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1');
}

interface RuleTableProps {
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
export function RuleTable({ rules, missing }: RuleTableProps) {
  const columns = useMemo(() => ruleColumns(), []);
  const rows = useMemo(
    () => [...rules.map(loadedRow), ...missing.map(missingRow)].sort(compareRules),
    [rules, missing]
  );
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
