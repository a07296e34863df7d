import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Alert, EmptyState, LinkButton, LoadingPlaceholder, useStyles2, useTheme2 } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { usePage } from '../../app/page-context.ts';
import { useAddress } from '../../app/useAddress.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { useLoaded } from '../../components/useLoaded.ts';
import { pageUrl, ROUTES } from '../../constants/routes.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { Distributions } from './Distributions.tsx';
import { Differences } from './Differences.tsx';
import { overlayRuns } from './overlay-runs.ts';
import { OverlaySignals } from './OverlaySignals.tsx';
import { RequestsOverTime } from './RequestsOverTime.tsx';
import { RunPicker } from './RunPicker.tsx';
import { SideBySide } from './SideBySide.tsx';

/** Compares two or more runs: configuration differences first, then measures. No verdicts. */
export default function OverlayView() {
  const { exporter } = usePage();
  if (exporter === null) {
    return (
      <EmptyState
        variant="call-to-action"
        message={t('overlay.no-exporter', 'Comparing runs requires the data source "llmbench runs"')}
        button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('overlay.to-setup', 'Set up')}</LinkButton>}
      >
        {t('overlay.no-exporter-why', 'The exporter stores requests and exact distributions; Prometheus does not.')}
      </EmptyState>
    );
  }
  return <Overlay exporter={exporter} />;
}

function Overlay({ exporter }: { exporter: ExporterApi }) {
  const styles = useStyles2(getStyles);
  const theme = useTheme2();
  const address = useAddress();
  const key = address.all('run').join(',');
  const load = useCallback(
    (signal: AbortSignal) => Promise.all(key.split(',').map((runId) => exporter.run(runId, signal))),
    [exporter, key]
  );
  const { data, error, loading, reload } = useLoaded(key === '' ? null : load);
  const runs = useMemo(() => overlayRuns(data ?? [], theme), [data, theme]);
  const unfinished = runs.filter(({ answer }) => answer.result === null);
  return (
    <div className={styles.page}>
      <RunPicker exporter={exporter} address={address} runs={runs} />
      {error && (
        <LoadProblem title={t('overlay.problem', 'The runs could not be loaded')} error={error} onRetry={reload} />
      )}
      {loading && !data && <LoadingPlaceholder text={t('overlay.loading', 'Loading the runs …')} />}
      {!error && key === '' && (
        <EmptyState variant="call-to-action" message={t('overlay.choose', 'Choose two or more runs')}>
          {t(
            'overlay.choose-how',
            'Choose them above, or select them in the list of runs. The first run is the reference.'
          )}
        </EmptyState>
      )}
      {unfinished.length > 0 && (
        <Alert
          severity="info"
          title={t('overlay.unfinished', 'Not finished, no exact results yet: {{runs}}', {
            runs: unfinished.map(({ letter }) => letter).join(', '),
          })}
        />
      )}
      {runs.length > 0 && (
        <>
          <Differences runs={runs} />
          <SideBySide runs={runs} />
          <RequestsOverTime runs={runs} exporter={exporter} />
          <Distributions runs={runs} exporter={exporter} />
          <OverlaySignals runs={runs} exporter={exporter} />
        </>
      )}
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
});
