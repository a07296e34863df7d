import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { useStyles2 } from '@grafana/ui';
import React, { useMemo } from 'react';
import { usePage } from '../../app/page-context.ts';
import { useSceneContent } from '../../app/useSceneContent.ts';
import type { RunSummary } from '../../exporter-api/types.ts';
import { percentilePanels } from './percentile-panels.ts';

/** The client's percentiles over time with their bounds, by the app's own panel, from Prometheus. */
export function Percentiles({ run }: { run: RunSummary }) {
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
