import { css } from '@emotion/css';
import { LoadingState, type PanelProps } from '@grafana/data';
import { useStyles2, useTheme2 } from '@grafana/ui';
import React, { useMemo, useState } from 'react';
import { percentileSeries } from './compute/percentile-series.ts';
import { CdfChart } from './draw/cdf/CdfChart.tsx';
import { Chart } from './draw/Chart.tsx';
import { Footer, Message, noticeText } from './draw/Message.tsx';
import { givenShapes, percentileLines } from './draw/lines.ts';
import { drawsIntervals, notes } from './draw/notes.ts';
import { Legend, toggled } from './draw/Legend.tsx';
import { textHeight, valueFormat } from './draw/value-text.ts';
import { failedQuery, noPercentileChosen } from './input/input-problem.ts';
import { nativeQuery, queryExpressions } from './input/query-expressions.ts';
import { readFrames } from './input/read-frames.ts';
import { runRegions } from './input/run-regions.ts';
import type { PercentilesOptions } from './options.tsx';

const LEGEND_ROW_HEIGHT = 24;
const FOOTER_PADDING = 6;
const MAX_FOOTER_SHARE = 0.5;
const MIN_CHART = 40;

export function PercentilesPanel(props: PanelProps<PercentilesOptions>) {
  const { data, options, width, height, timeRange, timeZone, fieldConfig, eventBus, onChangeTimeRange } = props;
  const theme = useTheme2();
  const styles = useStyles2(getStyles);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());

  const targets = data.request?.targets;
  const expressions = useMemo(() => queryExpressions(data.series, targets), [data.series, targets]);
  const reading = useMemo(() => readFrames(data.series, expressions), [data.series, expressions]);
  const { series } = reading;
  const { state, errors } = data;
  const problems = useMemo(
    () => [...reading.problems, ...(state === LoadingState.Error ? (errors ?? []).map(failedQuery) : [])],
    [reading.problems, state, errors]
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
  const given = useMemo(
    () => givenShapes(reading.lines, quantiles, computed.length === 1, theme),
    [reading.lines, quantiles, computed.length, theme]
  );
  const visible = useMemo(() => lines.filter(({ key }) => !hidden.has(key)), [lines, hidden]);
  const visibleGiven = useMemo(() => given.filter(({ key }) => !hidden.has(key)), [given, hidden]);
  const regions = useMemo(() => runRegions(data.annotations ?? []), [data.annotations]);
  const config = series[0]?.field.config ?? given[0]?.line.field.config ?? fieldConfig.defaults;
  const format = useMemo(() => valueFormat(config, theme), [config, theme]);
  const slo = options.slo ?? undefined;
  const { mode, showLegend } = options;
  const withoutIntervals = mode === 'time' && options.showIntervals && !drawsIntervals(visible);
  const texts = useMemo(
    () => (showLegend ? notes({ lines, withoutIntervals, mode, slo, format, timeZone }).join(' ') : ''),
    [lines, withoutIntervals, mode, slo, format, timeZone, showLegend]
  );

  if (lines.length === 0 && given.length === 0) {
    return (
      <Message
        problems={series.length > 0 ? [noPercentileChosen()] : reading.problems}
        loading={state === LoadingState.Loading}
        error={state === LoadingState.Error ? (errors?.[0]?.message ?? '') : ''}
        nativeQuery={[...expressions.values()].map(nativeQuery).find((query) => query !== null) ?? null}
      />
    );
  }
  const rows = showLegend ? lines.length + given.length + 1 : 0;
  const wanted = rows * LEGEND_ROW_HEIGHT + textHeight([...problems.map(noticeText), ...(texts ? [texts] : [])], width);
  const footerHeight = wanted > 0 ? Math.min(wanted + FOOTER_PADDING, Math.floor(height * MAX_FOOTER_SHARE)) : 0;
  const drawing = {
    width,
    height: Math.max(MIN_CHART, height - footerHeight),
    lines: visible,
    given: visibleGiven,
    options,
    config,
    format,
  };
  const keys = [...lines, ...given].map(({ key }) => key);
  return (
    <div style={{ width, height }} className={styles.panel}>
      {mode === 'range' ? (
        <CdfChart {...drawing} />
      ) : (
        <Chart
          {...drawing}
          timeRange={timeRange}
          timeZone={timeZone}
          regions={regions}
          eventBus={eventBus}
          onZoom={(from, to) => onChangeTimeRange({ from, to })}
        />
      )}
      {footerHeight > 0 && (
        <Footer
          height={footerHeight}
          problems={problems}
          notes={texts}
          legend={
            showLegend && (
              <Legend
                lines={lines}
                given={given}
                hidden={hidden}
                fromMs={timeRange.from.valueOf()}
                timeZone={timeZone}
                format={format}
                onToggle={(key, more) => setHidden((previous) => toggled(previous, keys, key, more))}
              />
            )
          }
        />
      )}
    </div>
  );
}

const getStyles = () => ({
  panel: css({ display: 'flex', flexDirection: 'column', overflow: 'hidden' }),
});
