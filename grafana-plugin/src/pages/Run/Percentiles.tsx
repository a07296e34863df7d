import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { useStyles2 } from '@grafana/ui';
import React, { useMemo } from 'react';
import { usePage } from '../../app/page-context.ts';
import { useSceneContent } from '../../app/useSceneContent.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { RunSummary } from '../../exporter-api/types.ts';
import { ExactDistributions } from './ExactDistributions.tsx';
import { percentilePanels } from './percentile-panels.ts';
import { useSeenByPrometheus } from './useSeenByPrometheus.ts';

interface Props {
  run: RunSummary;
  /** Tells exactly what Prometheus has not seen; null where there is none. */
  exporter: ExporterApi | null;
}

/** The client's percentiles over time, from Prometheus; its exact distributions where that has not seen the run. */
export function Percentiles({ run, exporter }: Props) {
  const styles = useStyles2(getStyles);
  const seen = useSeenByPrometheus(run, exporter !== null);
  if (seen === undefined) {
    return <div className={styles.panels} />;
  }
  return seen || exporter === null ? (
    <OverTime run={run} />
  ) : (
    <ExactDistributions exporter={exporter} runId={run.run_id} />
  );
}

/** By the app's own panel, with their bounds. */
function OverTime({ run }: { run: RunSummary }) {
  const styles = useStyles2(getStyles);
  const { prometheus, exporterUid } = usePage();
  const create = useMemo(
    () => (prometheus === null ? null : () => percentilePanels({ prometheus, exporterUid, runId: run.run_id })),
    [prometheus, exporterUid, run.run_id]
  );
  const content = useSceneContent(create);
  return content ? (
    <section className={styles.panels} aria-label={t('percentiles.title', 'Percentiles over time')}>
      <content.Component model={content} />
    </section>
  ) : null;
}

const getStyles = (_theme: GrafanaTheme2) => ({
  panels: css({ height: 380, display: 'flex' }),
});
