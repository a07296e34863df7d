import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import { css } from '@emotion/css';
import { Pagination, TextLink, useStyles2, Button, LinkButton } from '@grafana/ui';
import React, { useMemo, useState, type ReactNode } from 'react';
import { useLocation } from 'react-router-dom';
import type { ScenarioResponse } from '../../../../core/api/scenarios.ts';
import type { Unit } from '../../../../core/run/statistic.ts';
import { ABSENT, quantity, quantityRange } from '../../../../core/text/quantities.ts';
import { VerdictBadge } from '../../components/Badges.tsx';
import { DataTable, type Column } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { statisticName } from '../../components/measure-name.ts';
import { runUrl, compareSetsUrl } from '../../components/run-link.ts';
import type { DraftChange } from './BaselineChanges.tsx';
import { t } from '../../text.ts';

type Run = ScenarioResponse['runs'][number];

/** A run within its scenario is known by its start; by its id where the start is unknown. */
export function startText({ start, run_id }: Pick<Run, 'start' | 'run_id'>): string {
  return start === null ? run_id : dateTimeFormat(start);
}

/** What the run is in the baseline; empty where it is not part of it. */
export function standingText({ accepted, pinned }: Pick<Run, 'accepted' | 'pinned'>): string {
  return [
    ...(accepted ? [t('trends.accepted', 'accepted')] : []),
    ...(pinned ? [t('trends.pinned', 'pinned')] : []),
  ].join(', ');
}

/** A value of a run: exact, or two bounds. */
export function valueText(value: NonNullable<Run['values'][number]>['value'] | undefined, unit: Unit): string {
  const [low, high] = Array.isArray(value) ? value : [value, value];
  if (typeof low !== 'number' || typeof high !== 'number') {
    return ABSENT;
  }
  return high > low ? quantityRange([low, high], unit) : quantity(low, unit);
}

const PAGE_LENGTH = 25;

interface TrendRunsProps {
  scenario: ScenarioResponse;
  /** The shown places of runs, of which the oldest has 0. */
  places: readonly [number, number];
  picked: ReadonlySet<string>;
  onPick: (runId: string) => void;
}

/** The shown runs as a table, the newest first. */
export function TrendRuns({ scenario: { runs, measures }, places: [first, last], picked, onPick }: TrendRunsProps) {
  const styles = useStyles2(getTrendRunsStyles);
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

const getTrendRunsStyles = (theme: GrafanaTheme2) => ({ pages: css({ marginTop: theme.spacing(1) }) });

interface PickedRunsProps {
  runs: ScenarioResponse['runs'];
  picked: ReadonlySet<string>;
  onClear: () => void;
  /** Starts a change of the baseline; null where that is not allowed. */
  onChange: ((draft: DraftChange) => void) | null;
  children?: ReactNode;
}

/** The selected runs with links to their pages, and to their comparison: the older one is the baseline. */
export function PickedRuns({ runs, picked, onClear, onChange, children }: PickedRunsProps) {
  const styles = useStyles2(getPickedRunsStyles);
  const { search } = useLocation();
  const chosen = runs.filter(({ run_id }) => picked.has(run_id)).reverse();
  const [older, newer] = chosen;
  return (
    <div className={styles.bar} role="status">
      {chosen.length === 0 && (
        <span className={styles.hint}>
          {t('trends.hint', 'Select a run to open it, two to compare them; drag over the chart to zoom.')}
        </span>
      )}
      {chosen.map((run) => (
        <TextLink key={run.run_id} href={runUrl({ ...run, status: 'completed' }, search)}>
          {t('trends.open-run', 'Open {{run}}', { run: startText(run) })}
        </TextLink>
      ))}
      {older && newer && (
        <LinkButton
          size="sm"
          icon="layer-group"
          href={compareSetsUrl({ a: [older.run_id], b: [newer.run_id] }, search)}
        >
          {t('trends.compare', 'Compare')}
        </LinkButton>
      )}
      {chosen.length > 0 && onChange !== null && (
        <Button
          size="sm"
          variant="secondary"
          onClick={() => onChange({ action: 'accept', runIds: chosen.map(({ run_id }) => run_id) })}
        >
          {t('trends.change-picked', 'Change baseline')}
        </Button>
      )}
      {chosen.length > 0 && (
        <Button size="sm" variant="secondary" fill="text" onClick={onClear}>
          {t('trends.clear', 'Clear selection')}
        </Button>
      )}
      {children}
    </div>
  );
}

const getPickedRunsStyles = (theme: GrafanaTheme2) => ({
  bar: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(2), minHeight: 32 }),
  hint: css({ color: theme.colors.text.secondary }),
});
