import { css } from '@emotion/css';
import { dateTimeFormat, dateTimeFormatTimeAgo, type GrafanaTheme2 } from '@grafana/data';
import { Button, Icon, LinkButton, TextLink, useStyles2 } from '@grafana/ui';
import React, { useCallback, useMemo, useState } from 'react';
import { useLocation } from 'react-router-dom';
import type { RunSummary } from '../../../../core/api/runs.ts';
import type { ListedScenario } from '../../../../core/api/scenarios.ts';
import { Section } from '../../components/Section.tsx';
import { regressionUrl, verdictUrl, runTitle, runUrl, trendsUrl } from '../../components/run-link.ts';
import { usePage } from '../../hooks/page-context.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { StateBadge, RunbookButton, sourceName } from './RuleTable.tsx';
import { alertsByRule, type ActiveAlert, type AlertRule, type RuleAlert, type RuleAlerts } from './alert-rules.ts';
import { t } from '../../text.ts';

/** Labels that every alert has, or that only its rule is known by. */
const COMMON_LABELS = /^(alertname|severity|grafana_folder|__.*__)$/;

/** The labels that tell what the alert is about. */
export function subjectLabels({ labels }: Pick<ActiveAlert, 'labels'>): Array<[name: string, value: string]> {
  return Object.entries(labels)
    .filter(([name, value]) => !COMMON_LABELS.test(name) && value !== '')
    .sort(([a], [b]) => a.localeCompare(b));
}

/** What the rule's description ends with: `Runs: a, b.` */
const LISTED_RUNS = /\bRuns?: ([0-9A-Za-z-]{1,64}(?:, [0-9A-Za-z-]{1,64})*)\.\s*$/;

/** A description without the list of runs at its end, which is shown with their times where they are known. */
export function withoutRuns(description: string, known: ReadonlyMap<string, unknown>): string {
  const [, listed] = LISTED_RUNS.exec(description) ?? [];
  return listed?.split(', ').some((id) => known.has(id)) ? description.replace(LISTED_RUNS, '').trimEnd() : description;
}

/** The runs that the alert is about: of its labels, of its description, or that the exporter judged. */
export function alertRuns(
  { labels, annotations }: Pick<ActiveAlert, 'labels' | 'annotations'>,
  scenario: ListedScenario | undefined
): readonly string[] {
  const run = labels['run_id'];
  if (run) {
    return [run];
  }
  const [, listed] = LISTED_RUNS.exec(annotations['description'] ?? '') ?? [];
  return listed?.split(', ') ?? (openRegression(labels, scenario) ?? scenario?.verdict)?.run_ids ?? [];
}

/**
 * The comparison that the alert rests on: all runs of the open regression with their baseline, else those of the newest
 * verdict; null where nothing was judged or the exporter is not asked.
 */
export function alertCompareUrl(
  { labels }: Pick<ActiveAlert, 'labels'>,
  scenario: ListedScenario | undefined,
  search: string
): string | null {
  const open = openRegression(labels, scenario);
  if (open) {
    return regressionUrl(open, search);
  }
  // An exporter from before verdicts had their baseline leaves it out.
  return scenario?.verdict?.baseline_run_ids ? verdictUrl(scenario.verdict, search) : null;
}

function openRegression(labels: Record<string, string>, scenario: ListedScenario | undefined) {
  return labels['alertname'] === 'LlmScenarioRegressed' ? scenario?.open_regression : null;
}

/** Of an alert. */
const MAX_RUNS = 5;
/** Of all alerts: their ids are in one address. */
const MAX_NAMED_RUNS = 60;
const MAX_SUBJECTS = 8;

interface Props {
  alerts: readonly RuleAlert[];
  /** From the exporter, by name; empty without one. */
  scenarios: ReadonlyMap<string, ListedScenario>;
}

/** The firing and pending alerts, one row per rule: since when, of which runs, and where to look. */
export function ActiveAlerts({ alerts, scenarios }: Props) {
  const styles = useStyles2(getStyles);
  const runs = useRunsOfAlerts(alerts, scenarios);
  return (
    <Section title={t('alerts.active', 'Firing and pending')}>
      {alerts.length === 0 ? (
        <p className={styles.quiet}>
          <Icon name="check-circle" className={styles.good} />
          {t('alerts.quiet', 'No alert is firing or pending.')}
        </p>
      ) : (
        <ul className={styles.list}>
          {alertsByRule(alerts).map((one) => (
            <li key={keyOf(one.rule)} className={styles.alert}>
              <OfRule {...one} scenarios={scenarios} runs={runs} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function keyOf({ source, group, name }: AlertRule): string {
  return JSON.stringify([source, group, name]);
}

type Runs = ReadonlyMap<string, RunSummary>;

/** Of one scenario or server the alert itself, of several how many there are, and each when they are opened. */
function OfRule({ rule, alerts, scenarios, runs }: RuleAlerts & { scenarios: Props['scenarios']; runs: Runs }) {
  const styles = useStyles2(getStyles);
  // What is critical is in sight at once.
  const [isOpen, setOpen] = useState(rule.severity === 'critical');
  const each = alerts.map((alert) => (
    <Alert
      key={JSON.stringify(alert.labels)}
      alert={alert}
      scenario={scenarios.get(alert.labels['scenario'] ?? '')}
      runs={runs}
      isAlone={alerts.length === 1}
    />
  ));
  if (alerts.length === 1) {
    return <>{each}</>;
  }
  const [first] = alerts;
  const subjects = alerts.flatMap((alert) => subjectNames(alert, runs));
  return (
    <>
      <div className={styles.head}>
        <StateBadge state={first?.state ?? 'firing'} severity={rule.severity} />
        <strong>{rule.name}</strong>
        <Button
          size="sm"
          variant="secondary"
          fill="text"
          icon={isOpen ? 'angle-down' : 'angle-right'}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {t('alerts.of-rule', '{{alerts}} alerts', { alerts: alerts.length })}
        </Button>
        <span className={styles.facts}>{[rule.severity, sourceName(rule.source)].filter(Boolean).join(' · ')}</span>
        <span className={styles.actions}>
          <RunbookButton alert={rule.name} url={rule.runbook} />
        </span>
      </div>
      {isOpen ? (
        <div className={styles.instances}>{each}</div>
      ) : (
        <p className={styles.subjects}>{subjectsText([...new Set(subjects)])}</p>
      )}
    </>
  );
}

/** Names of runs have commas of their own. */
function subjectsText(subjects: readonly string[]): string {
  const more = subjects.length - MAX_SUBJECTS;
  return [
    ...subjects.slice(0, MAX_SUBJECTS),
    ...(more > 0 ? [t('alerts.more-subjects', 'and {{more}} more', { more })] : []),
  ].join(' · ');
}

/** What an alert is about, for a list: its run or scenario, else the values of all of its labels. */
function subjectNames({ labels }: RuleAlert, runs: Runs): string[] {
  const run = runs.get(labels['run_id'] ?? '');
  const name = run === undefined ? (labels['scenario'] ?? labels['run_id']) : runTitle(run);
  return name === undefined ? subjectLabels({ labels }).map(([, value]) => value) : [name];
}

interface AlertProps {
  alert: RuleAlert;
  scenario: ListedScenario | undefined;
  runs: Runs;
  /** Of its rule. */
  isAlone: boolean;
}

function Alert({ alert, scenario, runs: known, isAlone }: AlertProps) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  const { rule, state, since, annotations, labels } = alert;
  const runs = alertRuns(alert, scenario);
  const compare = alertCompareUrl(alert, scenario, search);
  const name = labels['scenario'];
  return (
    <div className={styles.one} role="group" aria-label={annotations['summary'] ?? rule.name}>
      <div className={styles.head}>
        <StateBadge state={state} severity={rule.severity} />
        <strong>{annotations['summary'] ?? rule.name}</strong>
        {since !== null && (
          <span className={styles.facts} title={dateTimeFormat(since)}>
            {t('alerts.since', 'since {{time}} ({{ago}})', {
              time: dateTimeFormat(since),
              ago: dateTimeFormatTimeAgo(since),
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
          {isAlone && <RunbookButton alert={rule.name} url={rule.runbook} />}
        </span>
      </div>
      {annotations['description'] && <p className={styles.text}>{withoutRuns(annotations['description'], known)}</p>}
      <div className={styles.facts}>
        {isAlone && <span>{[rule.name, rule.severity, sourceName(rule.source)].filter(Boolean).join(' · ')}</span>}
        {subjectLabels(alert)
          .filter(([label, value]) => !(label === 'run_id' && known.has(value)))
          .map(([label, value]) => (
            <code key={label}>{`${label}=${value}`}</code>
          ))}
      </div>
      {runs.length > 0 && (
        <div className={styles.facts}>
          <span>{t('alerts.runs', 'Runs:')}</span>
          {runs.slice(0, MAX_RUNS).map((run_id) => (
            <RunLink key={run_id} runId={run_id} run={known.get(run_id)} />
          ))}
          {runs.length > MAX_RUNS && (
            <span>{t('alerts.more-runs', 'and {{count}} more', { count: runs.length - MAX_RUNS })}</span>
          )}
        </div>
      )}
    </div>
  );
}

/** By scenario and time where the exporter has the run, else by its id. */
function RunLink({ runId, run }: { runId: string; run: RunSummary | undefined }) {
  const { search } = useLocation();
  const unknown = { run_id: runId, start: null, end: null, status: 'completed' as const };
  return (
    <span title={runId}>
      <TextLink variant="bodySmall" href={runUrl(run ?? unknown, search)}>
        {run === undefined ? runId : runTitle(run)}
      </TextLink>
    </span>
  );
}

/** The runs that the alerts name, by id; empty without an exporter. */
function useRunsOfAlerts(alerts: readonly RuleAlert[], scenarios: Props['scenarios']): Runs {
  const { exporter } = usePage();
  const named = alerts.flatMap((alert) =>
    alertRuns(alert, scenarios.get(alert.labels['scenario'] ?? '')).slice(0, MAX_RUNS)
  );
  const key = [...new Set(named)].slice(0, MAX_NAMED_RUNS).join(' ');
  const load = useCallback(
    async (signal: AbortSignal) =>
      (await exporter?.runs({ run_id: key.split(' '), limit: MAX_NAMED_RUNS }, signal))?.runs ?? [],
    [exporter, key]
  );
  const { data } = useLoaded(exporter === null || key === '' ? null : load);
  return useMemo(() => new Map(data?.map((run) => [run.run_id, run])), [data]);
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
  one: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(0.5) }),
  instances: css({ display: 'grid', gap: theme.spacing(1.5), padding: theme.spacing(1, 0, 0, 3) }),
  subjects: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: 0 }),
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
