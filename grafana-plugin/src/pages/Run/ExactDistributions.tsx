import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { LoadingPlaceholder, useStyles2, useTheme2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { tickText } from '../../../../core/text/quantities.ts';
import { percentText } from '../../charts/time-text.ts';
import { XyChart } from '../../charts/XyChart.tsx';
import { distributionSeries } from '../../charts/distribution-series.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { paletteColor } from '../../charts/colors.ts';

const MEASURES = ['time_to_first_token', 'inter_token_latency'] as const;
const POINTS = 1000;
const SHARES: readonly [number, number] = [0, 1];

interface Props {
  exporter: ExporterApi;
  runId: string;
  /** Why these are shown instead of percentiles over time. */
  unscraped: string;
}

/** The client's distributions from the run's own records. */
export function ExactDistributions({ exporter, runId, unscraped }: Props) {
  const styles = useStyles2(getStyles);
  const theme = useTheme2();
  const load = useCallback(
    (signal: AbortSignal) =>
      Promise.all(MEASURES.map((measure) => exporter.distribution(runId, { measure, points: POINTS }, signal))),
    [exporter, runId]
  );
  const { data, error, reload } = useLoaded(load);
  if (error) {
    return (
      <LoadProblem title={t('exact.problem', 'The distributions could not be loaded')} error={error} onRetry={reload} />
    );
  }
  const titles = [
    t('exact.ttft', 'Time to first token, client, exact'),
    t('exact.itl', 'Inter-token latency, client, exact'),
  ];
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

const getStyles = (theme: GrafanaTheme2) => ({
  columns: css({
    display: 'grid',
    gridTemplateColumns: 'repeat(auto-fit, minmax(420px, 1fr))',
    gap: theme.spacing(1.5),
  }),
});
