import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import {
  Alert,
  EmptyState,
  LinkButton,
  LoadingPlaceholder,
  MultiCombobox,
  TextLink,
  useStyles2,
  useTheme2,
} from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { diamondPath } from '../../../../core/chart/path.ts';
import { sweepNames } from '../../../../core/sweeps/sweep-names.ts';
import { usePage } from '../../hooks/page-context.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Named } from '../../components/Named.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { pageUrl, ROUTES } from '../../constants.ts';
import type { SweepsResponse, ListedSweep } from '../../../../core/api/sweeps.ts';
import { exporterSweeps, prometheusSweeps, type SweepReader } from '../../sweeps/sweep-reader.ts';
import { preselected, shownSweeps, type ShownSweep } from './chart-curves.ts';
import { settingsOf } from './settings.ts';
import { SweepCharts } from './SweepCharts.tsx';
import { SweepSettingsBar } from './SweepSettingsBar.tsx';
import { SweepSteps } from './SweepSteps.tsx';
import { Mark, MarkLegend } from '../../charts/MarkLegend.tsx';
import { t } from '../../text.ts';

/** Without the exporter, the runs that Prometheus had in this time before now. */
const PROMETHEUS_HOURS = 24;
/** More colors are hard to distinguish. */
const MAX_SHOWN = 8;

/** Runs that differ in nothing but their load, as curves. */
export default function SweepsView() {
  const reader = useSweepReader();
  if (reader === null) {
    return (
      <EmptyState
        variant="call-to-action"
        message={t('sweeps.no-data-source', 'No data source with runs is configured')}
        button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('sweeps.to-setup', 'Set up')}</LinkButton>}
      />
    );
  }
  return <Sweeps reader={reader} />;
}

/** The exporter's sweeps, else those of Prometheus; null without a data source. */
function useSweepReader(): SweepReader | null {
  const { exporter, prometheus } = usePage();
  return useMemo(() => {
    if (exporter !== null) {
      return exporterSweeps(exporter);
    }
    return prometheus === null ? null : prometheusSweeps(prometheus, PROMETHEUS_HOURS);
  }, [exporter, prometheus]);
}

function Sweeps({ reader }: { reader: SweepReader }) {
  const styles = useStyles2(getStyles);
  const load = useCallback((signal: AbortSignal) => reader.list(signal), [reader]);
  const { data, error, loading, reload } = useLoaded(load);
  return (
    <div className={styles.page}>
      {reader.kind === 'prometheus' && <FromPrometheus />}
      {error && (
        <LoadProblem title={t('sweeps.problem', 'The sweeps could not be loaded')} error={error} onRetry={reload} />
      )}
      {loading && !data && <LoadingPlaceholder text={t('sweeps.loading', 'Loading the sweeps …')} />}
      {data && data.sweeps.length === 0 && (
        <EmptyState variant="call-to-action" message={t('sweeps.none', 'No sweeps yet')}>
          {t(
            'sweeps.none-how',
            'Runs that differ only in their load form a sweep. Start one with: llmbench run --concurrency 1,2,4,8,16 --url http://localhost:8000 --model … --request-count 200'
          )}
        </EmptyState>
      )}
      {data && data.sweeps.length > 0 && <Chosen reader={reader} page={data} />}
    </div>
  );
}

/** What the sweeps lack without the exporter, and how to get it. */
function FromPrometheus() {
  return (
    <Alert
      severity="info"
      title={t('sweeps.from-prometheus', 'Sweeps of the runs in Prometheus, last {{hours}} hours', {
        hours: PROMETHEUS_HOURS,
      })}
    >
      {t(
        'sweeps.from-prometheus-lacks',
        'Objectives, GPUs and options without a label, such as those of sampling, are not known. They require the data source "llmbench runs": start llmbench serve and add its address on the page Setup.'
      )}{' '}
      <TextLink href={pageUrl(ROUTES.setup)} inline>
        {t('sweeps.to-setup', 'Set up')}
      </TextLink>
    </Alert>
  );
}

/** The picker, and the chosen sweeps: those of the newest scenarios unless some are chosen. */
function Chosen({ reader, page }: { reader: SweepReader; page: SweepsResponse }) {
  const address = useAddress();
  const named = address.all('sweep');
  const ids = (named.length > 0 ? named : preselected(page.sweeps)).slice(0, MAX_SHOWN);
  const names = useMemo(() => sweepNames(page.sweeps), [page]);
  const options = page.sweeps.map((sweep, i) => ({
    value: sweep.sweep_id,
    label: `${sweep.scenario} · ${names[i] ?? ''}`,
    description: descriptionOf(sweep),
  }));
  return (
    <>
      <Named label={t('sweeps.pick', 'Sweeps')}>
        {(id) => (
          <MultiCombobox<string>
            options={options}
            value={ids.map((each) => options.find(({ value }) => value === each) ?? { value: each, label: each })}
            onChange={(chosen) => address.set({ sweep: chosen.slice(0, MAX_SHOWN).map(({ value }) => value) })}
            placeholder={t('sweeps.pick-more', 'Select sweeps')}
            aria-labelledby={id}
          />
        )}
      </Named>
      {page.unreadable_runs.length > 0 && (
        <Alert
          severity="warning"
          title={t('sweeps.unreadable', 'Runs that cannot be read are left out: {{runs}}', {
            runs: page.unreadable_runs.map(({ run_id, reason }) => `${run_id} (${reason})`).join(', '),
          })}
        />
      )}
      <LoadedSweeps key={ids.join(' ')} reader={reader} ids={ids} />
    </>
  );
}

function descriptionOf({ loads, load_mode, runs, start, source }: ListedSweep): string {
  return [
    `${load_mode.replaceAll('_', ' ')} ${loads.join(', ')}`,
    t('sweeps.run-count', '{{count}} runs', { count: runs }),
    start === null ? '' : dateTimeFormat(start),
    source.name,
  ]
    .filter(Boolean)
    .join(' · ');
}

function LoadedSweeps({ reader, ids }: { reader: SweepReader; ids: readonly string[] }) {
  const theme = useTheme2();
  const address = useAddress();
  const text = ids.join(' ');
  const load = useCallback(
    (signal: AbortSignal) => Promise.all(text.split(' ').map((id) => reader.read(id, signal))),
    [reader, text]
  );
  const { data, error, loading, reload } = useLoaded(load);
  const shown = useMemo(() => shownSweeps(data ?? [], theme), [data, theme]);
  const settings = useMemo(() => settingsOf(address), [address]);
  if (error) {
    return (
      <LoadProblem title={t('sweeps.one-problem', 'The sweep could not be loaded')} error={error} onRetry={reload} />
    );
  }
  if (loading && !data) {
    return <LoadingPlaceholder text={t('sweeps.one-loading', 'Loading the runs …')} />;
  }
  return (
    <>
      <SweepSettingsBar settings={settings} needsGpus={shown.some(({ sweep }) => sweep.gpus === null)} />
      <SweepLegend shown={shown} />
      <SweepCharts shown={shown} settings={settings} />
      {shown.map((each) => (
        <SweepSteps key={each.sweep.sweep_id} shown={each} settings={settings} />
      ))}
    </>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
});

/** The color of each sweep, and what the marks of all charts mean. */
function SweepLegend({ shown }: { shown: readonly ShownSweep[] }) {
  const theme = useTheme2();
  const hasObjectives = shown.some(({ sweep }) => sweep.within_objective !== null);
  const text = theme.colors.text.primary;
  return (
    <MarkLegend label={t('sweeps.legend', 'Legend')}>
      {shown.map(({ sweep, name, color }) => (
        <Mark key={sweep.sweep_id} text={<b>{name}</b>} width={18}>
          <line x1={0} x2={18} y1={6} y2={6} stroke={color} strokeWidth={3} />
        </Mark>
      ))}
      {hasObjectives && (
        <>
          <Mark text={t('sweeps.legend-within', 'Largest load within the objective')} width={18}>
            <circle cx={9} cy={6} r={5} fill="none" stroke={theme.colors.success.text} strokeWidth={2} />
          </Mark>
          <Mark text={t('sweeps.legend-hollow', 'Objective not met or undecided')} width={18}>
            <circle cx={9} cy={6} r={4} fill="none" stroke={theme.colors.text.secondary} strokeWidth={2} />
          </Mark>
        </>
      )}
      {shown.some(({ sweep }) => sweep.knee !== null) && (
        <Mark text={t('sweeps.legend-knee', 'Knee (Kneedle)')} width={18}>
          <path d={diamondPath(9, 6, 5.5)} fill="none" stroke={text} strokeWidth={1.5} />
        </Mark>
      )}
    </MarkLegend>
  );
}
