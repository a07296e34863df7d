import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Alert, LoadingPlaceholder, useStyles2 } from '@grafana/ui';
import React, { useMemo } from 'react';
import { counted } from '../../../../core/text/quantities.ts';
import { usePage } from '../../hooks/page-context.ts';
import { useSceneContent } from '../../hooks/useSceneContent.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { RunSummary } from '../../../../core/api/runs.ts';
import { ExactDistributions } from './ExactDistributions.tsx';
import { percentilePanels } from './percentile-panels.ts';
import { isMostlyUnscraped, type ScrapedRequests, useScrapedRequests } from './useScrapedRequests.ts';

interface Props {
  run: RunSummary;
  /** Provides the exact distributions where Prometheus missed most requests; null without an exporter. */
  exporter: ExporterApi | null;
}

/** The client's percentiles over time from Prometheus, or its exact distributions where Prometheus missed most requests. */
export function Percentiles({ run, exporter }: Props) {
  const styles = useStyles2(getStyles);
  const scraped = useScrapedRequests(run);
  if (scraped === undefined) {
    return (
      <div className={styles.panels}>
        <LoadingPlaceholder text={t('percentiles.loading', 'Loading the percentiles …')} />
      </div>
    );
  }
  if (scraped === null || !isMostlyUnscraped(scraped)) {
    return <OverTime run={run} />;
  }
  return exporter === null ? (
    <>
      <Alert severity="info" title={unscrapedText(scraped)} />
      <OverTime run={run} />
    </>
  ) : (
    <ExactDistributions exporter={exporter} runId={run.run_id} unscraped={unscrapedText(scraped)} />
  );
}

function unscrapedText({ counted: seen, total }: ScrapedRequests): string {
  return seen === 0
    ? t('percentiles.unscraped', 'Unscraped: Prometheus has no samples from during the run.')
    : t('percentiles.mostly-unscraped', 'Mostly unscraped: Prometheus counted {{seen}} of {{total}} requests.', {
        seen: counted(seen),
        total: counted(total),
      });
}

/** Drawn by the app's own panel, with bounds. */
function OverTime({ run }: { run: RunSummary }) {
  const styles = useStyles2(getStyles);
  const { prometheus, exporterUid } = usePage();
  const hasStages = run.stages.length > 0;
  const create = useMemo(
    () =>
      prometheus === null ? null : () => percentilePanels({ prometheus, exporterUid, runId: run.run_id, hasStages }),
    [prometheus, exporterUid, run.run_id, hasStages]
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
