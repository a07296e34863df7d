import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { useStyles2, useTheme2 } from '@grafana/ui';
import React from 'react';
import { tickText } from '../../../core/text/quantities.ts';
import { secondsText } from '../charts/time-text.ts';
import { XyChart } from '../charts/XyChart.tsx';
import type { XyRegion } from '../charts/xy-series.ts';
import { paletteColor } from '../charts/colors.ts';
import { type RunSignals, signalName, SIGNALS, signalSeries, signalUnit } from './signals.ts';

interface Props {
  runs: readonly RunSignals[];
  regions?: readonly XyRegion[];
  xTitle: string;
}

/** A small chart for each metric that a run has. */
export function SignalCharts({ runs, regions = [], xTitle }: Props) {
  const styles = useStyles2(getStyles);
  const theme = useTheme2();
  const charts = SIGNALS.map((signal) => ({
    signal,
    series: signalSeries(runs, signal, (i) => paletteColor(theme, i)),
  })).filter(({ series }) => series.length > 0);
  if (charts.length === 0) {
    return <p>{t('signals.none', 'The servers expose none of these metrics.')}</p>;
  }
  return (
    <div className={styles.grid}>
      {charts.map(({ signal, series }) => (
        <div key={signal} className={styles.chart}>
          <h3 className={styles.title}>{signalName(signal)}</h3>
          <XyChart
            label={signalName(signal)}
            series={series}
            regions={regions}
            height={170}
            xText={secondsText}
            yText={(value) => axisText(value, signalUnit(signal))}
            xTitle={xTitle}
          />
        </div>
      ))}
    </div>
  );
}

/** The title says what is counted. */
function axisText(value: number, unit: ReturnType<typeof signalUnit>): string {
  return unit === 'ratio' ? tickText(value, unit) : tickText(value, unit).replace(/ .*/, '');
}

const getStyles = (theme: GrafanaTheme2) => ({
  grid: css({ display: 'grid', gridTemplateColumns: 'repeat(auto-fill, minmax(380px, 1fr))', gap: theme.spacing(2) }),
  chart: css({ minWidth: 0 }),
  title: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: theme.spacing(0, 0, 0.5) }),
});
