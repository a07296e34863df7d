import { css } from '@emotion/css';
import type { GrafanaTheme2, PanelProps } from '@grafana/data';
import { useStyles2, useTheme2 } from '@grafana/ui';
import React, { useMemo, useState } from 'react';
import { percentileSeries } from './compute/percentile-series.ts';
import { windowText } from './compute/window-text.ts';
import { Chart } from './draw/Chart.tsx';
import { Legend } from './draw/Legend.tsx';
import { toggled } from './draw/legend-visibility.ts';
import { percentileLines } from './draw/lines.ts';
import { Message, Notice } from './draw/Message.tsx';
import { valueFormat } from './draw/value-text.ts';
import { noPercentileChosen } from './input/input-problem.ts';
import { queryExpressions } from './input/query-expressions.ts';
import { readFrames } from './input/read-frames.ts';
import { runRegions } from './input/run-regions.ts';
import type { PercentilesOptions } from './options.ts';

const LEGEND_ROW_HEIGHT = 24;
const NOTE_HEIGHT = 22;
const LARGEST_LEGEND_SHARE = 0.5;

export function PercentilesPanel(props: PanelProps<PercentilesOptions>) {
  const { data, options, width, height, timeRange, timeZone, fieldConfig, eventBus, onChangeTimeRange } = props;
  const theme = useTheme2();
  const styles = useStyles2(getStyles);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());

  const targets = data.request?.targets;
  const { series, problems } = useMemo(
    () => readFrames(data.series, queryExpressions(data.series, targets)),
    [data.series, targets]
  );
  const quantiles = useMemo(() => [...options.percentiles].sort((a, b) => a - b), [options.percentiles]);
  const computed = useMemo(
    () =>
      series.map((one) =>
        percentileSeries(one, { quantiles, windowMs: options.windowSeconds > 0 ? options.windowSeconds * 1000 : null })
      ),
    [series, quantiles, options.windowSeconds]
  );
  const lines = useMemo(() => percentileLines(computed, quantiles, theme), [computed, quantiles, theme]);
  const visible = useMemo(() => lines.filter(({ key }) => !hidden.has(key)), [lines, hidden]);
  const regions = useMemo(() => runRegions(data.annotations ?? []), [data.annotations]);
  const config = series[0]?.config ?? fieldConfig.defaults;
  const format = useMemo(() => valueFormat(config, theme), [config, theme]);

  if (lines.length === 0) {
    return <Message problems={series.length > 0 ? [noPercentileChosen()] : problems} />;
  }
  const legendHeight = options.showLegend
    ? Math.min((lines.length + 1) * LEGEND_ROW_HEIGHT + 2, Math.floor(height * LARGEST_LEGEND_SHARE))
    : 0;
  const note = windowText(computed);
  const noteHeight = options.showLegend && note ? NOTE_HEIGHT : 0;
  const noticeHeight = problems.length * NOTE_HEIGHT;
  const keys = lines.map(({ key }) => key);
  return (
    <div style={{ width, height }} className={styles.panel}>
      <Chart
        width={width}
        height={Math.max(40, height - legendHeight - noteHeight - noticeHeight)}
        timeRange={timeRange}
        timeZone={timeZone}
        lines={visible}
        regions={regions}
        showIntervals={options.showIntervals}
        slo={options.slo ?? undefined}
        config={config}
        format={format}
        eventBus={eventBus}
        onZoom={(from, to) => onChangeTimeRange({ from, to })}
      />
      {problems.length > 0 && <Notice problems={problems} />}
      {options.showLegend && (
        <div className={styles.legend} style={{ height: legendHeight }}>
          <Legend
            lines={lines}
            hidden={hidden}
            format={format}
            onToggle={(key, more) => setHidden((previous) => toggled(previous, keys, key, more))}
          />
        </div>
      )}
      {noteHeight > 0 && <div className={styles.note}>{note}</div>}
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  panel: css({ display: 'flex', flexDirection: 'column', overflow: 'hidden' }),
  legend: css({ overflow: 'auto', flexShrink: 0 }),
  note: css({
    ...theme.typography.bodySmall,
    color: theme.colors.text.secondary,
    padding: theme.spacing(0.25, 1),
    whiteSpace: 'nowrap',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
  }),
});
