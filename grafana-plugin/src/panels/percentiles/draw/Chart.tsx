import type { EventBus, FieldConfig, TimeRange } from '@grafana/data';
import { t } from '@grafana/i18n';
import type { TimeZone } from '@grafana/schema';
import { measureText, useTheme2 } from '@grafana/ui';
import React, { useId, useMemo } from 'react';
import { sloShare } from '../compute/slo-share.ts';
import type { RunRegion } from '../input/run-regions.ts';
import type { PercentilesOptions } from '../options.ts';
import { Axes } from './Axes.tsx';
import { EndLabels } from './EndLabels.tsx';
import type { GivenShape } from './given-shapes.ts';
import { GivenLines } from './GivenLines.tsx';
import { GridChanges } from './GridChanges.tsx';
import { drawsIntervals } from './interval-limit.ts';
import { layout } from './layout.ts';
import { ManyLines } from './ManyLines.tsx';
import { type PercentileLine, seriesOf } from './lines.ts';
import { shareText } from './percent-text.ts';
import { PercentileShape } from './PercentileShape.tsx';
import { PLAIN_TEXT } from './plain-text.ts';
import { PointerLayer } from './PointerLayer.tsx';
import { ReferenceLines } from './ReferenceLines.tsx';
import { RunRegions } from './RunRegions.tsx';
import { thresholdLines } from './thresholds.ts';
import { valueRange } from './value-range.ts';
import type { ValueFormat } from './value-text.ts';

interface Props {
  width: number;
  height: number;
  timeRange: TimeRange;
  timeZone: TimeZone;
  lines: readonly PercentileLine[];
  given: readonly GivenShape[];
  regions: readonly RunRegion[];
  options: PercentilesOptions;
  config: FieldConfig;
  format: ValueFormat;
  eventBus: EventBus;
  onZoom: (fromMs: number, toMs: number) => void;
}

/** With more lines than this, names behind the lines would cover each other. */
const MOST_END_LABELS = 6;
const END_LABEL_WIDTH = 34;
const FONT_SIZE = 12;
/** Pixels between the whiskers of neighboring lines. */
const WHISKER_LANE = 11;

/** The drawing: percentiles over time with their intervals, run regions and reference lines. */
export function Chart(props: Props) {
  const { width, height, timeRange, timeZone, lines, given, regions, options, config, format, eventBus, onZoom } =
    props;
  const theme = useTheme2();
  const clip = useId().replaceAll(':', '');
  const fromMs = timeRange.from.valueOf();
  const toMs = timeRange.to.valueOf();
  const hasTitles = regions.length > 0;
  const endLabels = lines.length <= MOST_END_LABELS;
  const slo = options.slo ?? undefined;
  const log = options.scale === 'log';
  const values = useMemo(() => valueRange({ lines, given, slo, config, log }), [lines, given, slo, config, log]);
  const { x, y, timeTicks, valueTicks } = useMemo(
    () =>
      layout({
        width,
        height,
        fromMs,
        toMs,
        timeZone,
        values,
        log,
        format,
        measure: (text) => measureText(text, FONT_SIZE).width,
        endLabelWidth: endLabels ? END_LABEL_WIDTH : 0,
        hasTitles,
      }),
    [width, height, fromMs, toMs, timeZone, values, log, format, endLabels, hasTitles]
  );
  const { showSampling } = options;
  const many = !drawsIntervals(lines);
  const showIntervals = options.showIntervals && !many;
  const shapes = useMemo(
    () =>
      lines.map((line, i) => (
        <PercentileShape
          key={line.key}
          line={line}
          x={x}
          y={y}
          showInterval={showIntervals}
          showLine={!many}
          whiskerLane={showSampling && endLabels ? i * WHISKER_LANE : null}
        />
      )),
    [lines, x, y, showIntervals, many, showSampling, endLabels]
  );
  const { share, gridChanges } = useMemo(() => {
    const series = seriesOf(lines).map((line) => line.series);
    const [only] = series.length === 1 ? series : [];
    const one = only && slo !== undefined ? sloShare(only, slo) : null;
    const changes = new Set(series.flatMap(({ source }) => source.gridChangedMs ?? []));
    return { share: one ? shareText(one) : '', gridChanges: [...changes] };
  }, [lines, slo]);
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  return (
    <div style={{ position: 'relative', width, height, flexShrink: 0 }}>
      {many && <ManyLines lines={lines} x={x} y={y} />}
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={t('panel.chart.time', 'Percentiles over time: {{names}}', {
          names: [...lines, ...given].map(({ name }) => name).join(', '),
          ...PLAIN_TEXT,
        })}
        data-testid="percentiles chart"
        style={{ display: 'block', position: 'relative' }}
      >
        <clipPath id={clip}>
          <rect x={left} y={top} width={right - left} height={bottom - top} />
        </clipPath>
        <RunRegions regions={regions} x={x} y={y} />
        <Axes x={x} y={y} timeTicks={timeTicks} valueTicks={valueTicks} format={format} />
        <g clipPath={`url(#${clip})`}>
          {shapes}
          <GivenLines shapes={given} x={x} y={y} />
        </g>
        <GridChanges timesMs={gridChanges} x={x} y={y} />
        <ReferenceLines
          x={x}
          y={y}
          slo={slo}
          sloShare={share}
          overflowEdges={values.overflowEdges}
          thresholds={options.showThresholds ? thresholdLines(config, theme) : []}
          format={format}
        />
        {endLabels && <EndLabels lines={lines} x={x} y={y} />}
      </svg>
      <PointerLayer
        width={width}
        height={height}
        x={x}
        y={y}
        reading={{ lines, given, regions, slo, format, timeZone }}
        eventBus={eventBus}
        onZoom={onZoom}
      />
    </div>
  );
}
