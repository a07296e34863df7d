import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Alert, EmptyState, LinkButton, LoadingPlaceholder, MultiCombobox, useStyles2, useTheme2 } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { sweepNames } from '../../../../core/sweeps/sweep-names.ts';
import { usePage } from '../../app/page-context.ts';
import { useAddress } from '../../app/useAddress.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Named } from '../../components/Named.tsx';
import { useLoaded } from '../../components/useLoaded.ts';
import { pageUrl, ROUTES } from '../../constants/routes.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { SweepPage, SweepSummary } from '../../exporter-api/types.ts';
import { shownSweeps } from './chart-curves.ts';
import { settingsOf } from './settings.ts';
import { SweepCharts } from './SweepCharts.tsx';
import { SweepLegend } from './SweepLegend.tsx';
import { SweepSettingsBar } from './SweepSettingsBar.tsx';
import { SweepSteps } from './SweepSteps.tsx';

/** The exporter's limit of one answer. */
const MOST_SWEEPS = 1000;
/** More colors are hard to distinguish. */
const MOST_SHOWN = 8;

/** Runs that differ in nothing but their load, as curves. */
export default function SweepsView() {
  const { exporter } = usePage();
  if (exporter === null) {
    return (
      <EmptyState
        variant="call-to-action"
        message={t('sweeps.no-exporter', 'Sweeps require the data source "llmbench runs"')}
        button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('sweeps.to-setup', 'Set up')}</LinkButton>}
      >
        {t('sweeps.no-exporter-why', 'The exporter keeps the exact values of every run and forms sweeps of them.')}
      </EmptyState>
    );
  }
  return <Sweeps exporter={exporter} />;
}

function Sweeps({ exporter }: { exporter: ExporterApi }) {
  const styles = useStyles2(getStyles);
  const load = useCallback((signal: AbortSignal) => exporter.sweeps({ limit: MOST_SWEEPS }, signal), [exporter]);
  const { data, error, loading, reload } = useLoaded(load);
  return (
    <div className={styles.page}>
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
      {data && data.sweeps.length > 0 && <Chosen exporter={exporter} page={data} />}
    </div>
  );
}

/** The picker, and the chosen sweeps; the newest unless one is chosen. */
function Chosen({ exporter, page }: { exporter: ExporterApi; page: SweepPage }) {
  const address = useAddress();
  const named = address.all('sweep');
  const [newest] = page.sweeps;
  const ids = (named.length > 0 ? named : newest ? [newest.sweep_id] : []).slice(0, MOST_SHOWN);
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
          <MultiCombobox
            options={options}
            value={ids.map((each) => options.find(({ value }) => value === each) ?? { value: each, label: each })}
            onChange={(chosen) => address.set({ sweep: chosen.slice(0, MOST_SHOWN).map(({ value }) => value) })}
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
      <LoadedSweeps key={ids.join(' ')} exporter={exporter} ids={ids} />
    </>
  );
}

function descriptionOf({ loads, load_mode, runs, start, source }: SweepSummary): string {
  return [
    `${load_mode.replaceAll('_', ' ')} ${loads.join(', ')}`,
    t('sweeps.run-count', '{{count}} runs', { count: runs }),
    start === null ? '' : dateTimeFormat(start),
    source.name,
  ]
    .filter(Boolean)
    .join(' · ');
}

function LoadedSweeps({ exporter, ids }: { exporter: ExporterApi; ids: readonly string[] }) {
  const theme = useTheme2();
  const address = useAddress();
  const text = ids.join(' ');
  const load = useCallback(
    (signal: AbortSignal) => Promise.all(text.split(' ').map((id) => exporter.sweep(id, signal))),
    [exporter, text]
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
