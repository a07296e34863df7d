import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Pagination, TextLink, useStyles2 } from '@grafana/ui';
import React, { useMemo, useState } from 'react';
import { useLocation } from 'react-router-dom';
import { ABSENT } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { runUrl } from '../../components/run-link.ts';
import { Section } from '../../components/Section.tsx';
import { VerdictBadge } from '../../components/VerdictBadge.tsx';
import type { ScenarioResponse } from '../../../../core/api/scenarios.ts';
import { statisticName } from '../../components/measure-name.ts';
import { standingText, startText, valueText } from './run-texts.ts';

type Run = ScenarioResponse['runs'][number];

const PAGE_LENGTH = 25;

interface Props {
  scenario: ScenarioResponse;
  /** The shown places of runs, of which the oldest has 0. */
  places: readonly [number, number];
  picked: ReadonlySet<string>;
  onPick: (runId: string) => void;
}

/** The shown runs as a table, the newest first. */
export function TrendRuns({ scenario: { runs, measures }, places: [first, last], picked, onPick }: Props) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  const [page, setPage] = useState(1);
  const shown = useMemo(() => runs.slice(runs.length - 1 - last, runs.length - first), [runs, first, last]);
  const pages = Math.max(1, Math.ceil(shown.length / PAGE_LENGTH));
  const current = Math.min(page, pages);
  const columns = useMemo(() => columnsOf(measures, search), [measures, search]);
  return (
    <Section title={t('trends.runs-table', 'Runs')}>
      <DataTable
        label={t('trends.runs-label', 'Runs of the scenario')}
        columns={columns}
        rows={shown.slice((current - 1) * PAGE_LENGTH, current * PAGE_LENGTH)}
        rowKey={({ run_id }) => run_id}
        selection={{
          chosen: picked,
          onToggle: ({ run_id }) => onPick(run_id),
          label: ({ run_id }) => t('trends.pick', 'Select run {{run}}', { run: run_id }),
        }}
      />
      {pages > 1 && (
        <div className={styles.pages}>
          <Pagination currentPage={current} numberOfPages={pages} onNavigate={setPage} />
        </div>
      )}
    </Section>
  );
}

function columnsOf(measures: ScenarioResponse['measures'], search: string): Array<Column<Run>> {
  return [
    {
      id: 'start',
      header: t('trends.column.start', 'Start'),
      render: (run) => (
        <span title={run.run_id}>
          <TextLink href={runUrl({ ...run, status: 'completed' }, search)} inline={false} variant="bodySmall">
            {startText(run)}
          </TextLink>
        </span>
      ),
    },
    {
      id: 'verdict',
      header: t('trends.column.verdict', 'Verdict'),
      render: ({ verdict }) => (verdict === null ? ABSENT : <VerdictBadge verdict={verdict} />),
    },
    {
      id: 'baseline',
      header: t('trends.column.baseline', 'Baseline'),
      render: (run) => standingText(run) || ABSENT,
    },
    ...measures.map((measure, i): Column<Run> => ({
      id: `measure-${i}`,
      header: statisticName(measure),
      align: 'right',
      render: ({ values }) => valueText(values[i]?.value, measure.unit),
    })),
    {
      id: 'system',
      header: t('trends.column.system', 'System'),
      render: ({ system, system_version }) => [system, system_version].filter(Boolean).join(' ') || ABSENT,
    },
    {
      id: 'tags',
      header: t('trends.column.tags', 'Tags'),
      wraps: true,
      render: ({ tags }) => tags.join(', ') || ABSENT,
    },
  ];
}

const getStyles = (theme: GrafanaTheme2) => ({ pages: css({ marginTop: theme.spacing(1) }) });
