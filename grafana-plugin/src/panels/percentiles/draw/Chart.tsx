import type { EventBus, FieldConfig, TimeRange } from '@grafana/data';
import type { TimeZone } from '@grafana/schema';
import { measureText } from '@grafana/ui';
import React, { useId, useMemo } from 'react';
import type { RunRegion } from '../input/run-regions.ts';
import { Axes } from './Axes.tsx';
import { EndLabels } from './EndLabels.tsx';
import { layout } from './layout.ts';
import type { PercentileLine } from './lines.ts';
import { PercentileShape } from './PercentileShape.tsx';
import { PointerLayer } from './PointerLayer.tsx';
import { ReferenceLines } from './ReferenceLines.tsx';
import { RunRegions } from './RunRegions.tsx';
import { valueRange } from './value-range.ts';
import type { ValueFormat } from './value-text.ts';

interface Props {
  width: number;
  height: number;
  timeRange: TimeRange;
  timeZone: TimeZone;
  lines: readonly PercentileLine[];
  regions: readonly RunRegion[];
  showIntervals: boolean;
  slo: number | undefined;
  config: FieldConfig;
  format: ValueFormat;
  eventBus: EventBus;
  onZoom: (fromMs: number, toMs: number) => void;
}

/** With more lines than this, names behind the lines would cover each other. */
const MOST_END_LABELS = 6;
const END_LABEL_WIDTH = 34;
const FONT_SIZE = 12;

/** The drawing: percentiles over time with their intervals, run regions and reference lines. */
export function Chart(props: Props) {
  const { width, height, timeRange, timeZone, lines, regions, showIntervals, slo, config, format, eventBus, onZoom } =
    props;
  const clip = useId().replaceAll(':', '');
  const fromMs = timeRange.from.valueOf();
  const toMs = timeRange.to.valueOf();
  const hasTitles = regions.length > 0;
  const endLabels = lines.length <= MOST_END_LABELS;
  const values = useMemo(() => valueRange(lines, slo, config), [lines, slo, config]);
  const { x, y, timeTicks, valueTicks } = useMemo(
    () =>
      layout({
        width,
        height,
        fromMs,
        toMs,
        timeZone,
        values,
        format,
        measure: (text) => measureText(text, FONT_SIZE).width,
        endLabelWidth: endLabels ? END_LABEL_WIDTH : 0,
        hasTitles,
      }),
    [width, height, fromMs, toMs, timeZone, values, format, endLabels, hasTitles]
  );
  const shapes = useMemo(
    () => lines.map((line) => <PercentileShape key={line.key} line={line} x={x} y={y} showInterval={showIntervals} />),
    [lines, x, y, showIntervals]
  );
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  return (
    <svg
      width={width}
      height={height}
      role="img"
      aria-label={`Percentiles over time: ${lines.map(({ name }) => name).join(', ')}`}
      data-testid="percentiles chart"
      style={{ display: 'block' }}
    >
      <clipPath id={clip}>
        <rect x={left} y={top} width={right - left} height={bottom - top} />
      </clipPath>
      <RunRegions regions={regions} x={x} y={y} />
      <Axes x={x} y={y} timeTicks={timeTicks} valueTicks={valueTicks} format={format} />
      <g clipPath={`url(#${clip})`}>{shapes}</g>
      <ReferenceLines x={x} y={y} slo={slo} overflowEdges={values.overflowEdges} format={format} />
      {endLabels && <EndLabels lines={lines} x={x} y={y} />}
      <PointerLayer
        x={x}
        y={y}
        lines={lines}
        regions={regions}
        format={format}
        timeZone={timeZone}
        eventBus={eventBus}
        onZoom={onZoom}
      />
    </svg>
  );
}
