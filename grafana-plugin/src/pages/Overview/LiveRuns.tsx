import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { TextLink, useStyles2 } from '@grafana/ui';
import React from 'react';
import { useLocation } from 'react-router-dom';
import { quantity } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { durationText } from '../../charts/time-text.ts';
import { runUrl } from '../../components/run-link.ts';
import { liveFigures, progressText } from '../../components/run-progress.ts';
import { Section } from '../../components/Section.tsx';
import type { RunProgress, RunSummary } from '../../../../core/api/runs.ts';
import { t } from '../../text.ts';

/** Runs in progress: how far each is, how long it still takes, and what it measures; nothing when there are none. */
export function LiveRuns({ runs }: { runs: readonly RunSummary[] }) {
  const { search } = useLocation();
  return runs.length === 0 ? null : (
    <Section title={t('overview.live', 'Running now')}>
      <DataTable
        label={t('overview.live-label', 'Runs in progress')}
        columns={liveColumns(search)}
        rows={runs}
        rowKey={({ run_id }) => run_id}
      />
    </Section>
  );
}

function liveColumns(search: string): Array<Column<RunSummary>> {
  const figures = ({ progress }: RunSummary) => (progress === null ? null : liveFigures(progress));
  return [
    {
      id: 'run',
      header: t('overview.live-run', 'Run'),
      wraps: true,
      render: (run) => (
        <TextLink href={runUrl(run, search)} inline={false} variant="bodySmall">
          {run.scenario || run.run_id}
        </TextLink>
      ),
      below: {
        id: 'facts',
        header: '',
        render: ({ model, system, load }) => [model, system, load].filter(Boolean).join(' · '),
      },
    },
    {
      id: 'progress',
      header: t('overview.live-progress', 'Progress'),
      render: ({ run_id, progress }) => progress && <Progress runId={run_id} progress={progress} />,
    },
    {
      id: 'left',
      header: t('overview.live-left', 'Time left'),
      align: 'right',
      render: (run) => durationText(figures(run)?.remainingSeconds),
    },
    {
      id: 'requests',
      header: t('overview.live-requests', 'Requests'),
      meaning: t('overview.live-mean', 'Ok requests per second since the measure phase began'),
      align: 'right',
      render: (run) => quantity(figures(run)?.requestsPerSecond, 'requests_per_second'),
    },
    {
      id: 'tokens',
      header: t('overview.live-tokens', 'Output'),
      meaning: t('overview.live-tokens-mean', 'Output tokens per second since the measure phase began'),
      align: 'right',
      render: (run) => quantity(figures(run)?.tokensPerSecond, 'tokens_per_second'),
    },
    {
      id: 'errors',
      header: t('overview.live-errors', 'Errors'),
      align: 'right',
      render: (run) => quantity(figures(run)?.errorRatio, 'ratio'),
    },
  ];
}

function Progress({ runId, progress }: { runId: string; progress: RunProgress }) {
  const styles = useStyles2(getStyles);
  const { share } = liveFigures(progress);
  const label = t('overview.progress-of', 'Progress of run {{run}}', { run: runId });
  return (
    <div className={styles.progress}>
      {share !== null && <progress max={1} value={share} aria-label={label} />}
      <span>{progressText(progress)}</span>
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  progress: css({
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(1),
    // The browser's own bar has a white track in the dark theme.
    progress: {
      appearance: 'none',
      width: 160,
      height: theme.spacing(1),
      border: 'none',
      borderRadius: theme.shape.radius.pill,
      overflow: 'hidden',
      background: theme.colors.background.secondary,
      '&::-webkit-progress-bar': { background: theme.colors.background.secondary },
      '&::-webkit-progress-value': { background: theme.colors.primary.main },
      '&::-moz-progress-bar': { background: theme.colors.primary.main },
    },
  }),
});
