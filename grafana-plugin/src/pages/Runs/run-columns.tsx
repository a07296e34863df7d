import { css } from '@emotion/css';
import { dateTimeFormat } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Stack, TextLink, useStyles2 } from '@grafana/ui';
import React, { type ComponentProps } from 'react';
import { shortTitle } from '../../../../core/measures/names.ts';
import type { Unit } from '../../../../core/run/statistic.ts';
import { ABSENT, quantity } from '../../../../core/text/quantities.ts';
import { SparkLine } from '../../charts/SparkLine.tsx';
import type { Column } from '../../components/DataTable.tsx';
import { durationText } from '../../components/duration-text.ts';
import { runUrl } from '../../components/run-link.ts';
import { StatusBadge } from '../../components/StatusBadge.tsx';
import { VerdictBadge } from '../../components/VerdictBadge.tsx';
import type { RunSummary } from '../../../../core/api/runs.ts';
import { type SortKey, sortValue } from '../../../../core/api/run-list.ts';
import type { Histories } from './run-histories.ts';

/** The columns of the list; the ids are the exporter's sort keys. */
export function runColumns(search: string, histories: Histories): Array<Column<RunSummary>> {
  const number = (id: SortKey, header: string, unit: Unit, meaning: string): Column<RunSummary> => ({
    id,
    header,
    meaning,
    align: 'right',
    sortable: true,
    // The heading has the unit.
    render: (run) => quantity(sortValue(run, id) as number | null, unit).replace(' tokens/s', ''),
  });
  const withHistory = (column: Column<RunSummary>): Column<RunSummary> => ({
    ...column,
    render: (run) => (
      <Stack direction="row" gap={1} alignItems="center" justifyContent="flex-end">
        <History
          values={histories(run, column.id)}
          label={t(
            'runs.history',
            '{{measure}} of this run and of earlier runs with the same scenario, fingerprint and system',
            {
              measure: column.header,
            }
          )}
        />
        <span>{column.render(run)}</span>
      </Stack>
    ),
  });
  return [
    {
      id: 'start',
      header: t('runs.column.run', 'Run'),
      meaning: t('runs.column.run-meaning', 'Sorted by start time'),
      sortable: true,
      render: (run) => (
        <TextLink href={runUrl(run, search)} inline={false} variant="bodySmall">
          {run.start === null ? run.run_id : dateTimeFormat(run.start)}
        </TextLink>
      ),
      below: {
        id: 'scenario',
        header: t('runs.column.scenario', 'Scenario'),
        sortable: true,
        render: ({ scenario }) => <Short text={scenario} />,
      },
    },
    {
      id: 'status',
      header: t('runs.column.status', 'Status'),
      sortable: true,
      render: ({ status, failure }) => <StatusBadge status={status} failure={failure} />,
      below: {
        id: 'verdict',
        header: t('runs.column.verdict', 'Verdict'),
        meaning: t('runs.column.verdict-meaning', 'Newest verdict of llmbench check on the run'),
        sortable: true,
        render: ({ verdict }) =>
          verdict ? <VerdictBadge verdict={verdict.verdict} sentence={verdict.sentence} /> : ABSENT,
      },
    },
    {
      id: 'model',
      header: t('runs.column.model', 'Model'),
      sortable: true,
      render: ({ model }) => <Short text={model ?? ABSENT} />,
      below: {
        id: 'system',
        header: t('runs.column.system', 'System'),
        sortable: true,
        render: ({ system, system_version: version }) => (
          <Short text={system === null ? ABSENT : [system, version].filter(Boolean).join(' ')} />
        ),
      },
    },
    {
      id: 'load',
      header: t('runs.column.load', 'Load'),
      render: ({ load }) => <Short text={load ?? ABSENT} />,
      below: {
        id: 'duration',
        header: t('runs.column.duration', 'Duration'),
        sortable: true,
        render: ({ duration_seconds: seconds }) => durationText(seconds),
      },
    },
    {
      id: 'requests',
      header: t('runs.column.requests', 'Ok'),
      meaning: t('runs.column.requests-meaning', 'Ok requests'),
      align: 'right',
      sortable: true,
      render: ({ numbers }) => numbers?.requests.ok?.toLocaleString('en-US') ?? ABSENT,
      below: number(
        'error_ratio',
        t('runs.column.errors', 'Errors'),
        'ratio',
        t('runs.column.errors-meaning', '(error + timeout) ÷ (ok + error + timeout)')
      ),
    },
    number(
      'time_to_first_token_p50',
      shortTitle('time_to_first_token', 'p50'),
      'seconds',
      t('runs.column.ttft-p50-meaning', 'Median time to first token of ok requests, exact')
    ),
    withHistory(
      number(
        'time_to_first_token_p99',
        shortTitle('time_to_first_token', 'p99'),
        'seconds',
        t('runs.column.ttft-p99-meaning', '99th percentile of the time to first token of ok requests, exact')
      )
    ),
    number(
      'inter_token_latency_p50',
      shortTitle('inter_token_latency', 'p50'),
      'seconds',
      t('runs.column.itl-p50-meaning', 'Median inter-token latency: one mean per request')
    ),
    withHistory(
      number(
        'output_token_throughput',
        t('runs.column.tokens', 'Tokens/s'),
        'tokens_per_second',
        t('runs.column.tokens-meaning', 'Output tokens of ok requests per second of the window')
      )
    ),
  ];
}

function History(props: ComponentProps<typeof SparkLine>) {
  return (
    <span className={useStyles2(getStyles).history}>
      <SparkLine {...props} />
    </span>
  );
}

/** A text truncated to keep the table narrow; the tooltip has the whole text. */
function Short({ text }: { text: string }) {
  const styles = useStyles2(getStyles);
  return (
    <div className={styles.short} title={text}>
      {text}
    </div>
  );
}

const getStyles = () => ({
  short: css({ maxWidth: '14em', overflow: 'hidden', textOverflow: 'ellipsis' }),
  // On narrow tables the numbers take precedence over the sparklines.
  history: css({ lineHeight: 0, '@container (max-width: 1040px)': { display: 'none' } }),
});
