import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Icon, TextLink, useStyles2 } from '@grafana/ui';
import React, { useMemo } from 'react';
import { useLocation } from 'react-router-dom';
import { countOf, FAILED_OUTCOMES } from '../../../../core/run/record.ts';
import type { Unit } from '../../../../core/run/statistic.ts';
import type { SweepFigure } from '../../../../core/sweeps/sweep-figures.ts';
import { withinText } from '../../../../core/sweeps/sweep-names.ts';
import { ABSENT, counted, quantity, quantityRange, significant } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ObjectiveBadge } from '../../components/Badges.tsx';
import { runUrl } from '../../components/run-link.ts';
import { Section } from '../../components/Section.tsx';
import type { StoredSweep } from '../../../../core/api/sweeps.ts';
import { gpusOfSweep, type ShownSweep } from './chart-curves.ts';
import type { SweepSettings } from './settings.ts';
import { t } from '../../text.ts';

type Step = StoredSweep['steps'][number];

/** The steps of a sweep, a row per load. */
export function SweepSteps({ shown: { sweep, name }, settings }: { shown: ShownSweep; settings: SweepSettings }) {
  const { search } = useLocation();
  const columns = useMemo(() => columnsOf(sweep, settings, search), [sweep, settings, search]);
  return (
    <Section title={name} description={factsOf(sweep)}>
      <DataTable
        label={t('sweeps.steps-of', 'Steps of {{sweep}}', { sweep: name })}
        columns={columns}
        rows={sweep.steps}
        rowKey={({ load }) => String(load)}
      />
    </Section>
  );
}

function factsOf({ source, model, dataset, knee, within_objective: within }: StoredSweep): string {
  const parts = [
    source.kind === 'group'
      ? t('sweeps.source-group', 'Group {{name}}', { name: source.name })
      : t('sweeps.source-scenario', 'Scenario {{name}}', { name: source.name }),
    model,
    dataset,
    knee === null ? t('sweeps.no-knee', 'no knee') : t('sweeps.knee-at', 'knee at {{load}}', { load: knee.load }),
    ...(within === null ? [] : [t('sweeps.within', 'objective {{range}}', { range: withinText(within) })]),
  ];
  return parts.filter(Boolean).join(' · ');
}

function columnsOf(sweep: StoredSweep, settings: SweepSettings, search: string): Array<Column<Step>> {
  const gpus = gpusOfSweep(sweep, settings);
  const { percentile } = settings;
  const figure = (id: SweepFigure, header: string, unit: Unit): Column<Step> => ({
    ...{ id, header, align: 'right' },
    render: ({ values, runs, requests }) => {
      const value = values[id];
      const isRare = id.endsWith(`_${percentile}`) && isFew(requests.ok, runs.length, percentile);
      const text = (
        <>
          {bare(quantity(value?.mean, unit))}
          {isRare && value && <Few percentile={percentile} />}
        </>
      );
      return value && value.min < value.max ? (
        <span
          title={t('sweeps.range', 'Range over {{count}} runs: {{range}}', {
            count: value.n,
            range: quantityRange([value.min, value.max], unit),
          })}
        >
          {text}
        </span>
      ) : (
        text
      );
    },
  });
  // Without objectives, limits or GPUs a column would have no value at all, and narrow pages have no space for it.
  const hasObjective = sweep.steps.some(({ objective }) => objective !== null);
  const hasGoodput = sweep.steps.some(({ values }) => values.goodput !== null);
  const columns: Array<Column<Step> | false> = [
    { id: 'load', header: t('sweeps.load', 'Load'), align: 'right', render: ({ load }) => <b>{significant(load)}</b> },
    hasObjective && {
      id: 'objective',
      header: t('sweeps.objective', 'Objective'),
      render: ({ objective }) => <ObjectiveBadge verdict={objective} />,
    },
    { id: 'ok', header: t('sweeps.ok', 'Requests'), align: 'right', render: ({ requests }) => counted(requests.ok) },
    {
      ...{ id: 'failed', header: t('sweeps.failed', 'Errors'), align: 'right' },
      render: ({ requests }) => counted(countOf(requests, FAILED_OUTCOMES)),
    },
    figure('request_throughput', t('sweeps.column-requests', 'Requests/s'), 'requests_per_second'),
    figure('output_token_throughput', t('sweeps.column-output', 'Output tokens/s'), 'tokens_per_second'),
    figure(`time_to_first_token_${percentile}`, `TTFT ${percentile}`, 'seconds'),
    figure(`inter_token_latency_${percentile}`, `ITL ${percentile}`, 'seconds'),
    figure(
      `request_latency_${percentile}`,
      t('sweeps.column-latency', 'Latency {{percentile}}', { percentile }),
      'seconds'
    ),
    hasGoodput && figure('goodput', t('sweeps.column-goodput', 'Good requests/s'), 'requests_per_second'),
    figure(
      `tokens_per_second_per_user_${percentile}`,
      t('sweeps.column-user', 'Tokens/s per user'),
      'tokens_per_second'
    ),
    gpus !== null && {
      ...{ id: 'gpu', header: t('sweeps.column-gpu', 'Tokens/s per GPU'), align: 'right' },
      render: ({ values: { output_token_throughput: throughput } }) =>
        throughput === null ? ABSENT : significant(throughput.mean / gpus),
    },
    {
      ...{ id: 'runs', header: t('sweeps.runs', 'Runs') },
      render: ({ runs }) =>
        runs.map((run, i) => (
          <React.Fragment key={run.run_id}>
            {i > 0 && ' '}
            <TextLink href={runUrl(run, search)} variant="bodySmall">
              {runText(run, i)}
            </TextLink>
          </React.Fragment>
        )),
    },
  ];
  return columns.filter((column) => column !== false);
}

/** Fewer requests of each run than one beyond the percentile: it is little more than the largest value. */
export function isFew(ok: number | null, runs: number, percentile: string): boolean {
  const beyond = 1 - Number(percentile.replace('p', '')) / 100;
  return ok !== null && runs > 0 && (ok / runs) * beyond < 1;
}

function Few({ percentile }: { percentile: string }) {
  const styles = useStyles2(getStyles);
  const text = t('sweeps.few', 'Too few requests for {{percentile}}: it is close to the largest value', { percentile });
  return (
    <span className={styles.few} title={text} role="img" aria-label={text}>
      <Icon name="exclamation-triangle" size="xs" />
    </span>
  );
}

/** The column's heading has the unit. */
const bare = (text: string) => text.replace(/ (requests|tokens)\/s$/, '');

function runText({ status }: Step['runs'][number], i: number): string {
  const run = t('sweeps.run', 'Run {{number}}', { number: i + 1 });
  return status === 'completed' ? run : `${run} (${status})`;
}

const getStyles = (theme: GrafanaTheme2) => ({
  few: css({ color: theme.colors.warning.text, marginLeft: theme.spacing(0.5) }),
});
