import { css, cx } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Stack, useStyles2 } from '@grafana/ui';
import React, { type ComponentProps } from 'react';
import type { Histories } from '../../../core/api/overview.ts';
import { type SortKey, sortValue } from '../../../core/api/run-list.ts';
import type { RangedKey, RunGroup, RunSummary } from '../../../core/api/runs.ts';
import { shortTitle } from '../../../core/measures/names.ts';
import type { Unit } from '../../../core/run/statistic.ts';
import { ABSENT, counted, quantity, quantityRange } from '../../../core/text/quantities.ts';
import { SparkLine } from '../charts/SparkLine.tsx';
import type { Column } from './DataTable.tsx';
import { durationText } from '../charts/time-text.ts';
import { ObjectiveBadge, StatusBadge, VerdictBadge } from './Badges.tsx';
import { withoutStreamText } from '../runs/latencies.ts';
import { liveFigures } from './run-progress.ts';
import { t } from '../text.ts';

/** A row of a list of runs. */
export interface RunRow {
  run: RunSummary;
  /** Of which the run is the first: the row shows all of its runs; null for a row of one run. */
  group: RunGroup | null;
}

/** Draws a history where the table has the space for it, or always. */
type HistorySpace = 'wide' | 'always';

/** The columns of a list of runs; the ids are the exporter's sort keys. `first` draws the first one. */
export function runColumns<Row extends RunRow>(
  first: Column<Row>,
  histories: Histories,
  space: HistorySpace = 'wide'
): Array<Column<Row>> {
  return [first, ...figureColumns(histories, space)];
}

function figureColumns(histories: Histories, space: HistorySpace): Array<Column<RunRow>> {
  const number = (id: SortKey & RangedKey, header: string, unit: Unit, meaning: string): Column<RunRow> => ({
    id,
    header,
    meaning,
    align: 'right',
    sortable: true,
    // The heading has the unit.
    render: (row) => (
      <Figure text={figureText(row, id, unit).replace(' tokens/s', '')} other={otherFigure(row.run, id)} />
    ),
  });
  const withHistory = (column: Column<RunRow> & { id: SortKey }): Column<RunRow> => ({
    ...column,
    render: (row) => (
      <Stack direction="row" gap={1} alignItems="center" justifyContent="flex-end">
        {row.group === null && (
          <History
            space={space}
            values={histories(row.run, column.id)}
            label={t(
              'runs.history',
              '{{measure}} of this run and of earlier runs with the same scenario, fingerprint and system',
              {
                measure: column.header,
              }
            )}
          />
        )}
        <span>{column.render(row)}</span>
      </Stack>
    ),
  });
  return [
    {
      id: 'status',
      header: t('runs.column.status', 'Status'),
      sortable: true,
      render: (row) => <Status {...row} />,
      below: {
        id: 'duration',
        header: t('runs.column.duration', 'Duration'),
        sortable: true,
        render: ({ run: { duration_seconds: seconds }, group }) => (group === null ? durationText(seconds) : ''),
      },
    },
    verdictColumn(),
    {
      id: 'model',
      header: t('runs.column.model', 'Model'),
      wraps: true,
      sortable: true,
      render: ({ run: { model } }) => <Short text={model ?? ABSENT} />,
      below: {
        id: 'system',
        header: t('runs.column.system', 'System'),
        sortable: true,
        render: ({ run: { system, system_version: version } }) => (
          <Short text={system === null ? ABSENT : [system, version].filter(Boolean).join(' ')} />
        ),
      },
    },
    {
      id: 'load',
      header: t('runs.column.load', 'Load'),
      wraps: true,
      render: ({ run, group }) => <Short text={(group === null ? run.load : loadsText(group)) ?? ABSENT} />,
      below: {
        id: 'dataset',
        header: t('runs.column.dataset', 'Dataset'),
        render: ({ run: { dataset } }) => <Short text={dataset ?? ''} />,
      },
    },
    {
      id: 'requests',
      header: t('runs.column.requests', 'Ok'),
      meaning: t('runs.column.requests-meaning', 'Ok requests'),
      align: 'right',
      sortable: true,
      render: ({ run, group }) => counted(group === null ? run.numbers?.requests.ok : group.ok_requests),
      below: number(
        'error_ratio',
        t('runs.column.errors', 'Errors'),
        'ratio',
        t('runs.column.errors-meaning', '(error + timeout) ÷ (ok + error + timeout)')
      ),
    },
    {
      ...withHistory(
        number(
          'time_to_first_token_p99',
          shortTitle('time_to_first_token', 'p99'),
          'seconds',
          t('runs.column.ttft-p99-meaning', '99th percentile of the time to first token of ok requests, exact')
        ) as Column<RunRow> & { id: SortKey }
      ),
      below: number(
        'time_to_first_token_p50',
        shortTitle('time_to_first_token', 'p50'),
        'seconds',
        t('runs.column.ttft-p50-meaning', 'Median time to first token of ok requests, exact')
      ),
    },
    {
      ...withHistory(
        number(
          'output_token_throughput',
          t('runs.column.tokens', 'Tokens/s'),
          'tokens_per_second',
          t('runs.column.tokens-meaning', 'Output tokens of ok requests per second of the window')
        ) as Column<RunRow> & { id: SortKey }
      ),
      below: number(
        'inter_token_latency_p50',
        shortTitle('inter_token_latency', 'p50'),
        'seconds',
        t('runs.column.itl-p50-meaning', 'Median inter-token latency: one mean per request')
      ),
    },
  ];
}

/** Whether the column of verdicts and objectives would hold more than dashes. */
export function isJudged({ run, group }: RunRow): boolean {
  return Boolean(run.verdict) || (run.numbers?.slos ?? null) !== null || (group !== null && slosText(group) !== null);
}

function verdictColumn(): Column<RunRow> {
  return {
    id: 'verdict',
    header: t('runs.column.verdict', 'Verdict'),
    meaning: t('runs.column.verdict-meaning', 'Newest verdict of llmbench check on the run'),
    sortable: true,
    render: ({ run: { verdict }, group }) =>
      group !== null ? (
        group.verdict === null ? (
          ABSENT
        ) : (
          <VerdictBadge verdict={group.verdict} />
        )
      ) : verdict ? (
        <VerdictBadge verdict={verdict.verdict} sentence={verdict.sentence} />
      ) : (
        ABSENT
      ),
    below: {
      id: 'slos',
      header: t('runs.column.objectives', 'Objectives'),
      meaning: t('runs.column.objectives-meaning', 'Whether the run met the objectives that were set with --slo'),
      render: ({ run, group }) =>
        group === null ? <ObjectiveBadge verdict={run.numbers?.slos ?? null} /> : (slosText(group) ?? ABSENT),
    },
  };
}

/** `3 of 6 met`; null where no run has objectives. */
function slosText({ slos: { met, not_met, undecided } }: RunGroup): string | null {
  const all = met + not_met + undecided;
  return all === 0 ? null : t('runs.group-met', '{{met}} of {{all}} met', { met, all });
}

/** `6 loads: concurrency 1 … 32`, or the one load of repeats. */
function loadsText({ loads, runs, first_load: first, last_load: last }: RunGroup): string | null {
  if (loads < 2 || first === null || last === null) {
    return first === null ? null : t('runs.group-repeats', '{{runs}} × {{load}}', { runs, load: first });
  }
  // The name of the load once: `concurrency 1 … 32`.
  const [name] = first.split(' ');
  return `${first} … ${last.startsWith(`${name} `) ? last.slice(`${name} `.length) : last}`;
}

function Status({ run: { status, failure, progress }, group }: RunRow) {
  if (group !== null) {
    const { running, failed, aborted, completed } = group.statuses;
    const worst = failed > 0 ? 'failed' : aborted > 0 ? 'aborted' : 'completed';
    const shown = running > 0 ? 'running' : worst;
    return <StatusBadge status={shown} {...(completed < group.runs && { count: group.statuses[shown] })} />;
  }
  const share = progress && liveFigures(progress).share;
  return (
    <Stack direction="row" gap={0.5} alignItems="center">
      <StatusBadge status={status} failure={failure} />
      {share !== null && <span>{quantity(share, 'ratio')}</span>}
    </Stack>
  );
}

/** The value of a run, or the range of a group. */
function figureText({ run, group }: RunRow, id: RangedKey, unit: Unit): string {
  const range = group?.ranges[id];
  return range ? rangeText(range, unit) : quantity(group === null ? (sortValue(run, id) as number | null) : null, unit);
}

/** The figure of a run instead of one that its endpoint cannot have, with its name; null for others. */
function otherFigure(run: RunSummary, id: RangedKey): [value: string, name: string] | null {
  const { numbers } = run;
  if (numbers === null || withoutStreamText(run) === null) {
    return null;
  }
  switch (id) {
    case 'time_to_first_token_p50':
    case 'time_to_first_token_p99': {
      const value = numbers.request_latency_seconds?.[id === 'time_to_first_token_p50' ? 'p50' : 'p99'];
      return [quantity(value, 'seconds'), t('runs.latency', 'request latency')];
    }
    case 'output_token_throughput':
      return numbers.document_throughput == null
        ? null
        : [quantity(numbers.document_throughput, 'documents_per_second').replace(' documents/s', ''), 'documents/s'];
    default:
      return null;
  }
}

function Figure({ text, other }: { text: string; other: ReturnType<typeof otherFigure> }) {
  const styles = useStyles2(getStyles);
  return other === null || text !== ABSENT ? (
    text
  ) : (
    <>
      <span className={styles.line}>{other[0]}</span>
      <span className={cx(styles.line, styles.other)}>{other[1]}</span>
    </>
  );
}

function rangeText([low, high]: readonly [number, number], unit: Unit): string {
  const [lowText, highText] = [quantity(low, unit), quantity(high, unit)];
  return lowText === highText ? lowText : quantityRange([low, high], unit);
}

function History({ space, ...props }: ComponentProps<typeof SparkLine> & { space: HistorySpace }) {
  const styles = useStyles2(getStyles);
  return (
    <span className={space === 'wide' ? styles.history : styles.always}>
      <SparkLine {...props} />
    </span>
  );
}

/** A text in few lines, so that the table stays narrow. */
export function Short({ text }: { text: string }) {
  const styles = useStyles2(getStyles);
  return <div className={styles.short}>{text}</div>;
}

const getStyles = (theme: GrafanaTheme2) => ({
  line: css({ display: 'block' }),
  other: css({ color: theme.colors.text.secondary }),
  // Most names of models are not broken at a hyphen.
  short: css({ minWidth: '7.5em', maxWidth: '16em', overflowWrap: 'anywhere' }),
  always: css({ lineHeight: 0 }),
  // On narrow tables the numbers take precedence over the sparklines.
  history: css({ lineHeight: 0, '@container (max-width: 1040px)': { display: 'none' } }),
});
