import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React, { useId, useMemo, useState } from 'react';
import { pathOf, type ChartPoint } from '../../../core/chart/path.ts';
import { linearScale, valueTicks, type Scale } from '../../../core/chart/scale.ts';
import { ChartTooltip } from './ChartTooltip.tsx';
import { chartText } from './chart-style.ts';
import { Mark, MarkLegend } from './MarkLegend.tsx';
import { Axis, Regions } from './marks.tsx';
import { PointerArea } from './PointerArea.tsx';
import { useWidth } from './useWidth.ts';
import { extentOf, type XySeries, type Write, type XyRegion } from './xy-series.ts';
import { t } from '../text.ts';

interface XyChartProps {
  /** What the chart shows, for people who cannot see it. */
  label: string;
  series: readonly XySeries[];
  regions?: readonly XyRegion[];
  height: number;
  xText: Write;
  yText: Write;
  /** Title of the x axis. */
  xTitle?: string;
  yDomain?: readonly [number, number];
  xDomain?: readonly [number, number];
  legend?: boolean;
}

const MARGIN = { top: 20, right: 12, bottom: 24, left: 64 };
const TITLE_HEIGHT = 16;
const PIXELS_PER_TICK = { x: 110, y: 36 };
const POINT_WIDTH = 3.5;

/** Lines, steps or points over numbers; without a value, a line of text instead of axes that show none. */
export function XyChart(props: XyChartProps) {
  const styles = useStyles2(getXyChartStyles);
  return hasValues(props.series) ? (
    <Drawing {...props} />
  ) : (
    <p className={styles.empty}>{t('chart.empty', 'No data')}</p>
  );
}

/** Whether there is anything to draw. */
export function hasValues(series: readonly XySeries[]): boolean {
  return series.some(({ y }) => y.some((value) => value !== null));
}

/** The chart with its axes, a legend that switches the series, and the values under the pointer. */
function Drawing(props: XyChartProps) {
  const { label, series, regions = [], height, xText, yText, xTitle, legend = true } = props;
  const styles = useStyles2(getXyChartStyles);
  const texts = useStyles2(chartText);
  const [box, width] = useWidth<HTMLDivElement>();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const clip = useId();
  const shown = useMemo(() => series.filter(({ name }) => !hidden.has(name)), [series, hidden]);
  const bottom = height - MARGIN.bottom - (xTitle ? TITLE_HEIGHT : 0);
  const x = useMemo(() => {
    const found =
      props.xDomain ??
      domain(
        series.flatMap(({ x: xs }) => [xs[0] ?? null, xs.at(-1) ?? null, ...ends(xs)]),
        false
      );
    return linearScale(found, [MARGIN.left, Math.max(MARGIN.left + 1, width - MARGIN.right)]);
  }, [series, width, props.xDomain]);
  const y = useMemo(() => {
    const found = props.yDomain ?? domain(values(shown), true);
    return linearScale(found, [bottom, MARGIN.top]);
  }, [shown, bottom, props.yDomain]);
  const paths = useMemo(() => shown.map((one) => seriesPath(one, x, y)), [shown, x, y]);
  const [left, right] = x.range;
  return (
    <div ref={box} className={styles.box}>
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label={label}>
          <defs>
            <clipPath id={clip}>
              <rect x={left} y={MARGIN.top - 4} width={right - left} height={bottom - MARGIN.top + 6} />
            </clipPath>
          </defs>
          <Regions regions={regions} x={x} y={y} />
          <Axis
            axis="y"
            x={x}
            y={y}
            ticks={valueTicks(y.domain, (bottom - MARGIN.top) / PIXELS_PER_TICK.y)}
            text={yText}
          />
          <Axis axis="x" x={x} y={y} ticks={valueTicks(x.domain, (right - left) / PIXELS_PER_TICK.x)} text={xText} />
          {xTitle && (
            <text x={(left + right) / 2} y={height - 4} textAnchor="middle" className={texts.note}>
              {xTitle}
            </text>
          )}
          <g clipPath={`url(#${clip})`}>
            {shown.map(({ name, color, kind, dashed, secondary }, i) => (
              <path
                key={`${name}${secondary ? ' 2' : ''}`}
                data-series={name}
                d={paths[i]}
                fill="none"
                stroke={color}
                strokeWidth={kind === 'points' ? POINT_WIDTH : 1.75}
                strokeLinecap="round"
                strokeOpacity={kind === 'points' ? 0.65 : 1}
                {...(dashed && { strokeDasharray: '6 4' })}
              />
            ))}
          </g>
        </svg>
      )}
      {width > 0 && (
        <PointerArea width={width} height={height} x={x} y={y}>
          {(pointer) => pointer && <ChartTooltip pointer={pointer} x={x} series={shown} xText={xText} yText={yText} />}
        </PointerArea>
      )}
      {legend && (
        <MarkLegend label={t('chart.legend', 'Legend of {{chart}}', { chart: label })}>
          {series
            .filter(({ secondary }) => !secondary)
            .map(({ name, color, dashed }) => (
              <Mark
                key={name}
                text={name}
                toggle={{ isOn: !hidden.has(name), onClick: () => setHidden(toggled(hidden, name)) }}
              >
                <line
                  x2={16}
                  y1={6}
                  y2={6}
                  stroke={color}
                  strokeWidth={4}
                  {...(dashed && { strokeDasharray: '5 3' })}
                />
              </Mark>
            ))}
        </MarkLegend>
      )}
    </div>
  );
}

function* values(series: readonly XySeries[]): Generator<number | null> {
  for (const { y } of series) {
    yield* y;
  }
}

/** Points are in no order: their ends are looked for. */
function ends(xs: readonly number[]): number[] {
  const extent = extentOf(xs);
  return extent ? [extent.low, extent.high] : [];
}

/** What an axis shows: from 0 where all is above it, and a little room at the top. */
function domain(of: Iterable<number | null>, withRoom: boolean): [number, number] {
  const extent = extentOf(of);
  if (extent === null) {
    return [0, 1];
  }
  const low = extent.low >= 0 && withRoom ? 0 : extent.low;
  const high = withRoom ? extent.high + (extent.high - low) * 0.05 : extent.high;
  return high > low ? [low, high] : [low, low + (Math.abs(low) || 1)];
}

function toggled(hidden: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return new Set(hidden.has(name) ? [...hidden].filter((one) => one !== name) : [...hidden, name]);
}

const getXyChartStyles = (theme: GrafanaTheme2) => ({
  box: css({ position: 'relative', minWidth: 0, svg: { display: 'block' } }),
  empty: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: 0 }),
});

/** The path of a series in pixels. */
export function seriesPath({ kind, x: xs, y: ys }: XySeries, x: Scale, y: Scale): string {
  const points = xs.map((at, i): ChartPoint => {
    const value = ys[i] ?? null;
    return [x(at), value === null ? null : y(value)];
  });
  return pathOf(points, kind);
}
