import type { EventBus, FieldConfig, TimeRange } from '@grafana/data';
import type { TimeZone } from '@grafana/schema';
import { DEFAULT_ANNOTATION_COLOR, measureText, useTheme2 } from '@grafana/ui';
import React, { useId, useMemo } from 'react';
import { linearScale, logScale, logTicks, type Scale, valueTicks } from '../../../../../core/chart/scale.ts';
import { Regions } from '../../../charts/marks.tsx';
import { sloShare } from '../compute/percentile-series.ts';
import type { RunRegion } from '../input/run-regions.ts';
import type { PercentilesOptions } from '../options.tsx';
import { Axes, timeTicks, type TimeTick } from './Axes.tsx';
import { EndLabels } from './EndLabels.tsx';
import { seriesOf, type GivenShape, type PercentileLine } from './lines.ts';
import { GivenLines, ManyLines } from './ManyLines.tsx';
import { drawsIntervals } from './notes.ts';
import { shareText, type ValueFormat } from './value-text.ts';
import { PercentileShape } from './PercentileShape.tsx';
import { PointerLayer } from './PointerLayer.tsx';
import { GridChanges, ReferenceLines, thresholdLines } from './ReferenceLines.tsx';
import { valueRange, type ValueRange } from './value-range.ts';
import { t } from '../../../text.ts';

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
const MAX_END_LABELS = 6;
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
  const endLabels = lines.length <= MAX_END_LABELS;
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
        })}
        data-testid="percentiles chart"
        style={{ display: 'block', position: 'relative' }}
      >
        <clipPath id={clip}>
          <rect x={left} y={top} width={right - left} height={bottom - top} />
        </clipPath>
        <Regions
          regions={regions.map(({ startMs: from, endMs: to, title: label, color }) => ({
            ...{ from, to, label },
            color: theme.visualization.getColorByName(color ?? DEFAULT_ANNOTATION_COLOR),
          }))}
          x={x}
          y={y}
        />
        <Axes x={x} y={y} timeTicks={timeTicks} valueTicks={valueTicks} format={format} />
        <g clipPath={`url(#${clip})`}>
          {shapes}
          <GivenLines shapes={given} x={x} y={y} />
        </g>
        <GridChanges timesMs={gridChanges} x={x} y={y} />
        <ReferenceLines
          axis="y"
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

/** Where things are in the drawing, in pixels. */
interface Layout {
  x: Scale;
  y: Scale;
  timeTicks: TimeTick[];
  valueTicks: number[];
}

interface Request {
  width: number;
  height: number;
  fromMs: number;
  toMs: number;
  timeZone: TimeZone;
  values: ValueRange;
  log: boolean;
  format: ValueFormat;
  /** Width of a text in pixels. */
  measure: (text: string) => number;
  /** Room on the right for the names of the lines. */
  endLabelWidth: number;
  /** There are run regions, whose titles are above the drawing. */
  hasTitles: boolean;
}

const AXIS_HEIGHT = 26;
const TICK_HEIGHT = 40;
/** Distance of a value from the axis, and some room for a typeface that is loaded later than it is measured. */
const TICK_ROOM = 18;
const TIME_TICK_WIDTH = 90;

function layout(request: Request): Layout {
  const { width, height, fromMs, toMs, values, format, measure } = request;
  const top = request.hasTitles ? 20 : 8;
  const bottom = Math.max(top + 1, height - AXIS_HEIGHT);
  const ticks = (request.log ? logTicks : valueTicks)([values.low, values.high], (bottom - top) / TICK_HEIGHT);
  const left = Math.ceil(Math.max(24, ...ticks.map((value) => measure(format(value))))) + TICK_ROOM;
  const right = Math.max(left + 1, width - 10 - request.endLabelWidth);
  const x = linearScale([fromMs, toMs], [left, right]);
  const fits = ({ timeMs, text }: TimeTick) => x(timeMs) + measure(text) / 2 <= width;
  return {
    x,
    y: (request.log ? logScale : linearScale)([values.low, values.high], [bottom, top]),
    timeTicks: timeTicks(fromMs, toMs, (right - left) / TIME_TICK_WIDTH, request.timeZone).filter(fits),
    valueTicks: ticks,
  };
}
