import { measureText, useStyles2, useTheme2 } from '@grafana/ui';
import React, { useId, useMemo } from 'react';
import type { FieldConfig } from '@grafana/data';
import { linearScale, logScale, logTicks, valueTicks, type Scale } from '../../../../../../core/chart/scale.ts';
import { chartText, gridLine } from '../../../../charts/chart-style.ts';
import { Axis, LineAt } from '../../../../charts/marks.tsx';
import { sloShare } from '../../compute/percentile-series.ts';
import { percentileName } from '../../compute/percentile.ts';
import type { PercentilesOptions } from '../../options.tsx';
import { ReferenceLines, thresholdLines } from '../ReferenceLines.tsx';
import { lastGiven, seriesOf, type GivenShape, type PercentileLine } from '../lines.ts';
import { shareText, type ValueFormat } from '../value-text.ts';
import { CdfPointer } from './CdfPointer.tsx';
import { CdfShape, PercentileMark, cdfSteps, type CdfStep } from './CdfShape.tsx';
import { t } from '../../../../text.ts';

interface CdfAxesProps {
  x: Scale;
  y: Scale;
  valueTicks: readonly number[];
  format: ValueFormat;
  /** Percentiles that are named on the right, with a line across. */
  percentiles: readonly number[];
}

const SHARES = [0, 0.25, 0.5, 0.75, 1];

/** Values below, the share of the observations at or below them on the left. */
function CdfAxes({ x, y, valueTicks, format, percentiles }: CdfAxesProps) {
  const [, right] = x.range;
  const grid = gridLine(useTheme2());
  const styles = useStyles2(chartText);
  return (
    <g aria-hidden="true" data-part="axes">
      <Axis axis="y" x={x} y={y} ticks={SHARES} text={(share) => `${share * 100} %`} />
      {percentiles.map((quantile) => (
        <g key={quantile} data-quantile={quantile}>
          <LineAt axis="y" at={y(quantile)} x={x} y={y} {...grid} strokeDasharray="4 4" />
          <text x={right + 5} y={y(quantile)} dy="0.35em" className={styles.tick}>
            {percentileName(quantile)}
          </text>
        </g>
      ))}
      <Axis axis="x" x={x} y={y} ticks={valueTicks} text={format} />
    </g>
  );
}

interface CdfChartProps {
  width: number;
  height: number;
  lines: readonly PercentileLine[];
  given: readonly GivenShape[];
  options: PercentilesOptions;
  config: FieldConfig;
  format: ValueFormat;
}

const LEFT = 58;
const RIGHT = 28;
/** With the names of the percentiles. */
const RIGHT_WITH_NAMES = 46;
const TOP = 10;
const BOTTOM = 28;
const FONT_SIZE = 12;
/** Room of a tick besides its text. */
const TICK_ROOM = 44;

/** The distribution of the whole visible range: a band of steps, with percentiles and the objective marked on it. */
export function CdfChart({ width, height, lines, given, options, config, format }: CdfChartProps) {
  const theme = useTheme2();
  const clip = useId().replaceAll(':', '');
  const slo = options.slo ?? undefined;
  const series = useMemo(() => {
    const all = seriesOf(lines);
    return all.map((line) => {
      // A single series has a color per percentile, so the distribution itself stays in the background.
      const color = all.length === 1 && lines.length > 1 ? theme.colors.text.secondary : line.color;
      const share = slo === undefined ? null : sloShare(line.series, slo);
      return { line, color, share, steps: cdfSteps(line.series.total) };
    });
  }, [lines, slo, theme]);
  const range = useMemo(
    () =>
      cdfRange({
        distributions: series.map(({ steps }) => steps),
        marks: [...(slo === undefined ? [] : [slo]), ...given.map(({ line }) => lastGiven(line) ?? NaN)],
        scale: options.scale,
        config,
      }),
    [series, given, slo, options.scale, config]
  );
  const alone = series.length === 1;
  const [left, right] = [LEFT, Math.max(LEFT + 1, width - (alone ? RIGHT : RIGHT_WITH_NAMES))];
  const [top, bottom] = [TOP, Math.max(TOP + 1, height - BOTTOM)];
  const domain = [range.low, range.high] as const;
  const x = useMemo(
    () => (range.log ? logScale : linearScale)([range.low, range.high], [left, right]),
    [range, left, right]
  );
  const y = useMemo(() => linearScale([0, 1], [bottom, top]), [bottom, top]);
  const tickWidth = measureText(format(range.high), FONT_SIZE).width + TICK_ROOM;
  const ticks = (range.log ? logTicks : valueTicks)(domain, (right - left) / tickWidth);
  const shapes = useMemo(
    () =>
      series.map(({ line, color, steps }) => (
        <CdfShape key={line.key} line={line} color={color} steps={steps} x={x} y={y} />
      )),
    [series, x, y]
  );
  const text = { fontFamily: theme.typography.fontFamily, background: theme.colors.background.primary };
  const shares = series.flatMap(({ line, color, share }) => (share ? [{ key: line.key, color, share }] : []));
  const [onlyShare] = shares.length === 1 ? shares : [];
  return (
    <div style={{ position: 'relative', width, height, flexShrink: 0 }}>
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={t('panel.chart.range', 'Distribution of the whole range: {{names}}', {
          names: [...lines, ...given].map(({ name }) => name).join(', '),
        })}
        data-testid="percentiles distribution"
        style={{ display: 'block' }}
      >
        <clipPath id={clip}>
          <rect x={left} y={top - 2} width={right - left} height={bottom - top + 4} />
        </clipPath>
        <CdfAxes x={x} y={y} valueTicks={ticks} format={format} percentiles={alone ? [] : quantilesOf(lines)} />
        <g clipPath={`url(#${clip})`}>{shapes}</g>
        <ReferenceLines
          axis="x"
          x={x}
          y={y}
          slo={slo}
          sloShare={onlyShare ? shareText(onlyShare.share) : ''}
          overflowEdges={range.overflowEdges}
          thresholds={options.showThresholds ? thresholdLines(config, theme) : []}
          format={format}
        >
          {shares.map(({ key, color, share }) => (
            <rect
              key={key}
              x={x(slo ?? NaN) - 4}
              y={y(share.high)}
              width={8}
              height={Math.max(3, y(share.low) - y(share.high))}
              fill={color}
              stroke={theme.colors.error.text}
            />
          ))}
        </ReferenceLines>
        {lines.map((line) => (
          <PercentileMark key={line.key} line={line} x={x} y={y} named={alone} {...text} />
        ))}
        {given.map(({ key, name, color, line }) => {
          const value = lastGiven(line);
          if (value === null || line.quantile === null) {
            return null;
          }
          const [cx, cy] = [x(value), y(line.quantile)];
          return (
            <path
              key={key}
              data-given={name}
              d={`M${cx - 6},${cy}L${cx},${cy - 6}L${cx + 6},${cy}L${cx},${cy + 6}Z`}
              fill={text.background}
              stroke={color}
              strokeWidth={2}
            />
          );
        })}
      </svg>
      <CdfPointer width={width} height={height} x={x} y={y} series={series} format={format} />
    </div>
  );
}

function quantilesOf(lines: readonly PercentileLine[]): number[] {
  return [...new Set(lines.flatMap(({ series, index }) => series.range?.percentiles[index]?.quantile ?? []))];
}

/** The values that the axis of a distribution shows. */
interface CdfRange {
  low: number;
  high: number;
  log: boolean;
  /** Largest finite bounds beyond which something was observed. */
  overflowEdges: number[];
}

interface Request {
  distributions: ReadonlyArray<readonly CdfStep[]>;
  /** Values that have to be visible. */
  marks: readonly number[];
  scale: 'auto' | 'linear' | 'log';
  config: FieldConfig;
}

/** Values that differ by more than this factor are shown on a logarithmic axis. */
const MAX_LINEAR = 40;
const ROOM = 1.05;
const ROOM_FOR_OVERFLOW = 1.25;

/** From the lowest to the highest bucket that holds something, unless the field options say otherwise. */
function cdfRange({ distributions, marks, scale, config }: Request): CdfRange {
  const filled = distributions.flatMap((steps) => steps.filter(({ from, to }) => to > from));
  const overflowEdges = filled.flatMap(({ low, high }) => (high === Infinity ? [low] : []));
  const edges = [...filled.flatMap(({ low, high }) => [low, high]), ...marks].filter(Number.isFinite);
  const top = Math.max(0, ...edges);
  const high = config.max ?? (Math.max(top * ROOM, Math.max(0, ...overflowEdges) * ROOM_FOR_OVERFLOW) || 1);
  const positive = edges.filter((edge) => edge > 0 && edge < high);
  const smallest = Math.min(...positive, high / 2);
  const log = scale === 'log' || (scale === 'auto' && high / smallest > MAX_LINEAR);
  const low = config.min ?? (log ? smallest / 2 : Math.min(0, ...edges));
  return {
    low: log && !(low > 0) ? smallest / 2 : Math.min(low, high),
    high,
    log,
    overflowEdges: [...new Set(overflowEdges)].sort((a, b) => a - b),
  };
}
