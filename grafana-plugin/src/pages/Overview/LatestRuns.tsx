import { dateTimeFormat, dateTimeFormatTimeAgo } from '@grafana/data';
import { LinkButton, TextLink } from '@grafana/ui';
import React from 'react';
import { useLocation } from 'react-router-dom';
import { counted } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { isJudged, runColumns, type RunRow } from '../../components/run-columns.tsx';
import { runUrl, trendsUrl } from '../../components/run-link.ts';
import { VerdictBadge } from '../../components/Badges.tsx';
import { Section } from '../../components/Section.tsx';
import { pageUrl, ROUTES } from '../../constants.ts';
import type { AttentionItem } from './attention.ts';
import type { Overview } from './overview.ts';
import { t } from '../../text.ts';

/** The columns of the list of runs that a glance needs. */
const SHOWN = ['scenario', 'verdict', 'load', 'requests', 'time_to_first_token_p99', 'output_token_throughput'];

/** The newest completed run of each scenario, with its verdict and headline figures. */
export function LatestRuns({ overview: { attention, latest, stored } }: { overview: Overview }) {
  const { search } = useLocation();
  const histories = new Map(latest.map(({ run, history }) => [run.run_id, history]));
  const columns = runColumns(
    scenarioColumn(search),
    ({ run_id }, name) =>
      Object.entries(histories.get(run_id) ?? {}).flatMap(([key, values]) => (key === name ? values : [])),
    'always'
  );
  // The most urgent of each scenario is the first.
  const ofScenario = new Map([...attention].reverse().map((item) => [item.scenario, item]));
  const hasVerdicts = latest.some((row) => isJudged(row) || ofScenario.has(row.run.scenario));
  return (
    <Section
      title={t('overview.latest', 'Latest results')}
      description={
        stored &&
        t(
          'overview.stored',
          'The newest completed run of each scenario. Stored: {{runs}} runs of {{scenarios}} scenarios.',
          {
            runs: counted(stored.runs),
            scenarios: counted(stored.scenarios),
          }
        )
      }
      actions={
        <LinkButton size="sm" variant="secondary" href={`${pageUrl(ROUTES.runs)}${search}`}>
          {t('overview.all-runs', 'All runs')}
        </LinkButton>
      }
    >
      <DataTable
        label={t('overview.latest-label', 'Newest completed run of each scenario')}
        columns={columns
          .filter(({ id }) => SHOWN.includes(id) && (id !== 'verdict' || hasVerdicts))
          .map((column) => (column.id === 'verdict' ? withState(column, ofScenario) : column))}
        rows={latest}
        rowKey={({ run }) => run.run_id}
      />
    </Section>
  );
}

/** Of a run that was not judged itself, what is open of its scenario. */
function withState(column: Column<RunRow>, ofScenario: ReadonlyMap<string, AttentionItem>): Column<RunRow> {
  return {
    ...column,
    render: (row) => {
      const { kind, sentence } = ofScenario.get(row.run.scenario) ?? {};
      return row.run.verdict === null && (kind === 'regressed' || kind === 'suspect' || kind === 'undecided') ? (
        <VerdictBadge verdict={kind} {...(sentence !== undefined && { sentence })} />
      ) : (
        column.render(row)
      );
    },
  };
}

function scenarioColumn(search: string): Column<RunRow> {
  return {
    id: 'scenario',
    header: t('overview.scenario', 'Scenario'),
    wraps: true,
    render: ({ run }) => (
      <TextLink href={trendsUrl(run.scenario, search)} inline={false} variant="bodySmall">
        {run.scenario}
      </TextLink>
    ),
    below: {
      id: 'start',
      header: t('overview.run', 'Run'),
      render: ({ run, group }) => (
        <span title={run.start === null ? run.run_id : dateTimeFormat(run.start)}>
          <TextLink href={runUrl(run, search)} inline={false} variant="bodySmall" color="secondary">
            {run.start === null ? run.run_id : dateTimeFormatTimeAgo(run.start)}
          </TextLink>
          {group !== null && ` · ${t('runs.group-count', '{{runs}} runs', { runs: group.runs })}`}
        </span>
      ),
    },
  };
}
