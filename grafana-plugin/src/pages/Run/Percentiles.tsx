import type { SceneObject } from '@grafana/scenes';
import React, { useEffect, useCallback, useMemo } from 'react';
import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { LoadingPlaceholder, useStyles2, useTheme2, Alert } from '@grafana/ui';
import type { RunSummary } from '../../../../core/api/runs.ts';
import { tickText, counted } from '../../../../core/text/quantities.ts';
import { XyChart } from '../../charts/XyChart.tsx';
import { paletteColor } from '../../charts/chart-style.ts';
import { percentText } from '../../charts/time-text.ts';
import { distributionSeries } from '../../charts/xy-series.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { measureName } from '../../components/measure-name.ts';
import { Section } from '../../components/Section.tsx';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { usePage } from '../../hooks/page-context.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { latenciesOf, withoutStreamText, type ShownLatency } from '../../runs/latencies.ts';
import { percentilePanels } from './percentile-panels.ts';
import { isMostlyUnscraped, useScrapedRequests, type ScrapedRequests } from './useScrapedRequests.ts';
import { t } from '../../text.ts';

/**
 * Puts scene objects, such as panels, into the page's scene, where they find its time range, and returns them once they
 * are there. `create` comes from `useMemo`; null for nothing. A page has one such content.
 */
function useSceneContent(create: (() => SceneObject) | null): SceneObject | null {
  const { content, setContent } = usePage();
  useEffect(() => {
    setContent(create?.());
    return () => setContent(undefined);
  }, [create, setContent]);
  return content ?? null;
}

const POINTS = 1000;
const SHARES: readonly [number, number] = [0, 1];

interface ExactDistributionsProps {
  exporter: ExporterApi;
  runId: string;
  latencies: readonly ShownLatency[];
  /** Why these are shown instead of percentiles over time. */
  unscraped: string;
}

/** The client's distributions from the run's own records. */
function ExactDistributions({ exporter, runId, latencies, unscraped }: ExactDistributionsProps) {
  const styles = useStyles2(getExactDistributionsStyles);
  const theme = useTheme2();
  const load = useCallback(
    (signal: AbortSignal) =>
      Promise.all(latencies.map((measure) => exporter.distribution(runId, { measure, points: POINTS }, signal))),
    [exporter, runId, latencies]
  );
  const { data, error, reload } = useLoaded(load);
  if (error) {
    return (
      <LoadProblem title={t('exact.problem', 'The distributions could not be loaded')} error={error} onRetry={reload} />
    );
  }
  if (data?.every(({ n }) => n === 0)) {
    return (
      <Section title={t('percentiles.title', 'Percentiles over time')}>
        <p>
          {unscraped} {t('requests.none', 'The run has no records of its requests.')}
        </p>
      </Section>
    );
  }
  const titles = latencies.map((latency) =>
    t('exact.client', '{{measure}}, client, exact', { measure: measureName(latency) })
  );
  return (
    <div className={styles.columns}>
      {titles.map((title, i) => (
        <Section
          key={title}
          title={title}
          description={[
            unscraped,
            t('exact.why', 'Exact share of the requests at or below each value, from the records of the run.'),
          ].join(' ')}
        >
          {data?.[i] ? (
            <XyChart
              label={t('exact.chart', 'Distribution function: {{measure}}', { measure: title })}
              series={distributionSeries(data[i], {
                name: t('exact.name', 'client'),
                color: paletteColor(theme, i),
              })}
              height={250}
              xText={(value) => tickText(value, 'seconds')}
              yText={percentText}
              yDomain={SHARES}
            />
          ) : (
            <LoadingPlaceholder text="" />
          )}
        </Section>
      ))}
    </div>
  );
}

const getExactDistributionsStyles = (theme: GrafanaTheme2) => ({
  columns: css({
    display: 'grid',
    gridTemplateColumns: 'repeat(auto-fit, minmax(420px, 1fr))',
    gap: theme.spacing(1.5),
  }),
});

interface PercentilesProps {
  run: RunSummary;
  /** Provides the exact distributions where Prometheus missed most requests; null without an exporter. */
  exporter: ExporterApi | null;
}

/** The client's percentiles over time from Prometheus, or its exact distributions where Prometheus missed most requests. */
export function Percentiles(props: PercentilesProps) {
  const why = withoutStreamText(props.run);
  return (
    <>
      {why !== null && <Alert severity="info" title={why} />}
      <Latencies {...props} />
    </>
  );
}

function Latencies({ run, exporter }: PercentilesProps) {
  const styles = useStyles2(getPercentilesStyles);
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
    <ExactDistributions
      exporter={exporter}
      runId={run.run_id}
      latencies={latenciesOf(run)}
      unscraped={unscrapedText(scraped)}
    />
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
  const styles = useStyles2(getPercentilesStyles);
  const { prometheus, exporterUid } = usePage();
  const hasStages = run.stages.length > 0;
  const latencies = latenciesOf(run);
  const create = useMemo(
    () =>
      prometheus === null
        ? null
        : () => percentilePanels({ prometheus, exporterUid, runId: run.run_id, hasStages, latencies }),
    [prometheus, exporterUid, run.run_id, hasStages, latencies]
  );
  const content = useSceneContent(create);
  return content ? (
    <section className={styles.panels} aria-label={t('percentiles.title', 'Percentiles over time')}>
      <content.Component model={content} />
    </section>
  ) : null;
}

const getPercentilesStyles = (_theme: GrafanaTheme2) => ({
  panels: css({ height: 380, display: 'flex' }),
});
