import React, { useId, useMemo, useState, type KeyboardEvent } from 'react';
import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import { linearScale, valueTicks, type Scale } from '../../../../core/chart/scale.ts';
import type { Unit } from '../../../../core/run/statistic.ts';
import { counted, quantityRange, tickText } from '../../../../core/text/quantities.ts';
import { TooltipBox, TooltipRows, type WindowPlace } from '../../charts/ChartTooltip.tsx';
import { chartText } from '../../charts/chart-style.ts';
import { Axis } from '../../charts/marks.tsx';
import { PointerArea } from '../../charts/PointerArea.tsx';
import { useWidth } from '../../charts/useWidth.ts';
import { verdictText } from '../../components/Badges.tsx';
import { TrendBands, TrendDots, TrendMarks } from './TrendMarks.tsx';
import { standingText, startText, valueText } from './TrendRuns.tsx';
import { nearestPoint, type TrendPoint, type Trend, type TrendBand, type TrendMark } from './trend-points.ts';
import { t } from '../../text.ts';

interface TrendTooltipProps {
  point: TrendPoint;
  at: WindowPlace;
  unit: Unit;
}

/** The run that is pointed at. */
function TrendTooltip({ point, at, unit }: TrendTooltipProps) {
  const { run, low, high, interval, n } = point;
  const rows: Array<[string, string]> = [
    [startText(run), valueText([low, high], unit)],
    [
      t('trends.interval', '95 % interval within the run'),
      interval === null ? t('trends.no-interval', 'not available') : quantityRange(interval, unit),
    ],
    [t('trends.n', 'n'), counted(n)],
    [
      t('trends.verdict', 'Verdict'),
      run.verdict === null ? t('trends.not-judged', 'not judged') : verdictText(run.verdict),
    ],
    [t('trends.baseline', 'Baseline'), standingText(run)],
    [t('trends.system', 'System'), [run.system, run.system_version].filter(Boolean).join(' ')],
  ];
  return (
    <TooltipBox at={at} role="status">
      <TooltipRows rows={rows} />
    </TooltipBox>
  );
}

interface TrendChartProps {
  /** What the chart shows, for people who cannot see it. */
  label: string;
  trend: Trend;
  versions: readonly TrendMark[];
  unit: Unit;
  /** The shown places of runs, both included. */
  places: readonly [number, number];
  picked: ReadonlySet<string>;
  onPick: (runId: string) => void;
  /** A stretch of places was selected with the pointer. */
  onZoom: (places: readonly [number, number]) => void;
}

const HEIGHT = 220;
const MARGIN = { top: 34, right: 16, bottom: 30, left: 104 };
const PIXELS_PER_TICK = { x: 150, y: 40 };

/** The value of each run with its interval, over the range of the baseline and of the pinned runs. */
export function TrendChart(props: TrendChartProps) {
  const { label, trend, versions, unit, places, picked, onPick, onZoom } = props;
  const styles = useStyles2(getStyles);
  const texts = useStyles2(chartText);
  const [box, width] = useWidth<HTMLDivElement>();
  const [pointed, setPointed] = useState<{ point: TrendPoint; at: WindowPlace } | null>(null);
  const clip = useId();
  const bottom = HEIGHT - MARGIN.bottom;
  const points = useMemo(
    () => trend.points.filter(({ place }) => place >= places[0] && place <= places[1]),
    [trend, places]
  );
  const x = useMemo(
    () =>
      linearScale([places[0] - 0.5, places[1] + 0.5], [MARGIN.left, Math.max(MARGIN.left + 1, width - MARGIN.right)]),
    [places, width]
  );
  const y = useMemo(
    () => linearScale(valueDomain(points, [trend.baseline, trend.anchor]), [bottom, MARGIN.top]),
    [points, trend, bottom]
  );
  const [left, right] = x.range;

  /** `origin`: the chart's left edge in the window, and the height of the tooltip. */
  const pointAt = (point: TrendPoint | null, origin: WindowPlace) =>
    setPointed(point && { point, at: { x: origin.x + x(point.place), y: origin.y } });
  const pick = (point: TrendPoint | null) => {
    if (point) {
      onPick(point.run.run_id);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const at = pointed === null ? (step > 0 ? -1 : points.length) : points.indexOf(pointed.point);
      const box = event.currentTarget.getBoundingClientRect();
      pointAt(points[Math.min(points.length - 1, Math.max(0, at + step))] ?? null, {
        x: box.left,
        y: box.top + bottom,
      });
    } else if ((event.key === 'Enter' || event.key === ' ') && pointed) {
      event.preventDefault();
      pick(pointed.point);
    }
  };

  return (
    <div
      ref={box}
      className={styles.box}
      role="group"
      tabIndex={0}
      aria-label={t('trends.chart-keys', '{{label}}: arrow keys move between runs, Enter selects', { label })}
      onKeyDown={onKeyDown}
    >
      {width > 0 && (
        <svg width={width} height={HEIGHT} role="img" aria-label={label} className={styles.chart}>
          <defs>
            <clipPath id={clip}>
              <rect x={left} y={MARGIN.top - 8} width={right - left} height={bottom - MARGIN.top + 16} />
            </clipPath>
          </defs>
          <Axes x={x} y={y} unit={unit} points={points} />
          <g clipPath={`url(#${clip})`}>
            <TrendBands baseline={trend.baseline} anchor={trend.anchor} x={x} y={y} />
            <TrendDots points={points} x={x} y={y} picked={picked} />
          </g>
          {points.length === 0 && (
            <text x={(left + right) / 2} y={(bottom + MARGIN.top) / 2} textAnchor="middle" className={texts.note}>
              {t('trends.no-values', 'These runs have no value of this measure')}
            </text>
          )}
        </svg>
      )}
      {width > 0 && (
        <PointerArea
          width={width}
          height={HEIGHT}
          x={x}
          y={y}
          crosshairAt={() => pointed && x(pointed.point.place)}
          onPoint={(pointer) =>
            pointer === null
              ? setPointed(null)
              : pointAt(nearestPoint(points, x.invert(pointer.x)), {
                  x: pointer.clientX - pointer.x,
                  y: pointer.clientY,
                })
          }
          onSelect={(low, high) => onZoom([Math.max(places[0], Math.ceil(low)), Math.min(places[1], Math.floor(high))])}
          onClick={(pointer) => pick(nearestPoint(points, x.invert(pointer.x)))}
        >
          {() => <TrendMarks marks={[...versions, ...trend.changes]} places={places} x={x} y={y} />}
        </PointerArea>
      )}
      {pointed && <TrendTooltip {...pointed} unit={unit} />}
    </div>
  );
}

/** From 0 where the values are far from equal; else about the values, so that small changes are visible. */
function valueDomain(points: readonly TrendPoint[], bands: ReadonlyArray<TrendBand | null>): [number, number] {
  const ends = [
    ...points.flatMap(({ low, high, interval }) => [low, high, ...(interval ?? [])]),
    ...bands.flatMap((band) => (band === null ? [] : [band.low, band.high])),
  ];
  if (ends.length === 0) {
    return [0, 1];
  }
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const room = (high - low || Math.abs(high) || 1) * 0.08;
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
}

function Axes({ x, y, unit, points }: { x: Scale; y: Scale; unit: Unit; points: readonly TrendPoint[] }) {
  const styles = useStyles2(chartText);
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  return (
    <>
      <Axis
        axis="y"
        x={x}
        y={y}
        ticks={valueTicks(y.domain, (bottom - top) / PIXELS_PER_TICK.y)}
        text={(value) => tickText(value, unit)}
      />
      {dated(points, Math.max(1, Math.floor((right - left) / PIXELS_PER_TICK.x))).map(({ place, run }) => (
        <text key={run.run_id} x={x(place)} y={bottom + 22} textAnchor="middle" className={styles.tick}>
          {run.start === null ? '' : dateTimeFormat(run.start, { format: 'YYYY-MM-DD HH:mm' })}
        </text>
      ))}
    </>
  );
}

/** At most so many runs, evenly spread and away from the ends, whose start is written below the drawing. */
function dated(points: readonly TrendPoint[], most: number): TrendPoint[] {
  const count = Math.min(most, points.length);
  return Array.from({ length: count }, (_, i) => points[Math.floor(((i + 0.5) * points.length) / count)]).filter(
    (point) => point !== undefined
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  box: css({
    position: 'relative',
    minWidth: 0,
    '&:focus-visible': { outline: `2px solid ${theme.colors.primary.main}` },
  }),
  chart: css({ display: 'block', userSelect: 'none' }),
});
