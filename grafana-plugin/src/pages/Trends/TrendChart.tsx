import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { useStyles2, useTheme2 } from '@grafana/ui';
import React, { type KeyboardEvent, type PointerEvent, useId, useMemo, useState } from 'react';
import type { Unit } from '../../../../core/run/statistic.ts';
import { counted, quantityRange, tickText } from '../../../../core/text/quantities.ts';
import { TooltipBox } from '../../charts/TooltipBox.tsx';
import { useWidth } from '../../charts/useWidth.ts';
import { verdictColor, verdictText } from '../../components/VerdictBadge.tsx';
import { linearScale, type Scale } from '../../panels/percentiles/draw/scale.ts';
import { valueTicks } from '../../panels/percentiles/draw/ticks.ts';
import { standingText, startText, valueText } from './run-texts.ts';
import { nearestPoint, type Trend, type TrendBand, type TrendMark, type TrendPoint } from './trend-points.ts';

interface Props {
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
const MARGIN = { top: 34, right: 16, bottom: 24, left: 104 };
const PIXELS_PER_TICK = { x: 150, y: 40 };
/** A shorter movement of the pointer is a click. */
const DRAG_PIXELS = 6;
const RADIUS = 4;
/** Above so many runs the dots are smaller, so that they do not hide each other. */
const MANY = 150;

/** The value of each run with its interval, over the range of the baseline and of the pinned runs. */
export function TrendChart(props: Props) {
  const { label, trend, versions, unit, places, picked, onPick, onZoom } = props;
  const theme = useTheme2();
  const styles = useStyles2(getStyles);
  const [box, width] = useWidth<HTMLDivElement>();
  const [pointed, setPointed] = useState<TrendPoint | null>(null);
  const [dragFrom, setDragFrom] = useState<number | null>(null);
  const [dragTo, setDragTo] = useState<number | null>(null);
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
  const radius = points.length > MANY ? 2.5 : RADIUS;

  const pixelOf = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) =>
    Math.min(right, Math.max(left, clientX - currentTarget.getBoundingClientRect().left));
  const onPointerMove = (event: PointerEvent<SVGSVGElement>) => {
    const pixel = pixelOf(event);
    setPointed(nearestPoint(points, x.invert(pixel)));
    if (dragFrom !== null) {
      setDragTo(pixel);
    }
  };
  const onPointerUp = (event: PointerEvent<SVGSVGElement>) => {
    const pixel = pixelOf(event);
    if (dragFrom !== null && Math.abs(pixel - dragFrom) >= DRAG_PIXELS) {
      const [from, to] = [Math.min(dragFrom, pixel), Math.max(dragFrom, pixel)].map((one) => x.invert(one));
      onZoom([Math.max(places[0], Math.ceil(from ?? 0)), Math.min(places[1], Math.floor(to ?? 0))]);
    } else if (dragFrom !== null) {
      const nearest = nearestPoint(points, x.invert(pixel));
      if (nearest) {
        onPick(nearest.run.run_id);
      }
    }
    setDragFrom(null);
    setDragTo(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const at = pointed === null ? (step > 0 ? -1 : points.length) : points.indexOf(pointed);
      setPointed(points[Math.min(points.length - 1, Math.max(0, at + step))] ?? null);
    } else if ((event.key === 'Enter' || event.key === ' ') && pointed) {
      event.preventDefault();
      onPick(pointed.run.run_id);
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
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={label}
          className={styles.chart}
          onPointerDown={(event) => setDragFrom(pixelOf(event))}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerLeave={() => {
            setPointed(null);
            setDragFrom(null);
            setDragTo(null);
          }}
        >
          <defs>
            <clipPath id={clip}>
              <rect x={left} y={MARGIN.top - 8} width={right - left} height={bottom - MARGIN.top + 16} />
            </clipPath>
          </defs>
          <Axes x={x} y={y} unit={unit} points={points} />
          <g clipPath={`url(#${clip})`}>
            <Band band={trend.baseline} x={x} y={y} fill={theme.colors.success.main} name="baseline" />
            <Band band={trend.anchor} x={x} y={y} stroke={theme.colors.warning.main} name="anchor" />
            <path d={intervals(points, x, y)} stroke={theme.colors.text.disabled} fill="none" data-drawn="intervals" />
            <path
              d={bounds(points, x, y, radius)}
              stroke={theme.colors.text.primary}
              fill="none"
              strokeWidth={radius}
            />
            {points.map((point) => (
              <Dot
                key={point.run.run_id}
                point={point}
                x={x}
                y={y}
                radius={radius}
                isPicked={picked.has(point.run.run_id)}
              />
            ))}
          </g>
          <Marks marks={[...versions, ...trend.changes]} places={places} x={x} bottom={bottom} />
          {dragFrom !== null && dragTo !== null && (
            <rect
              x={Math.min(dragFrom, dragTo)}
              width={Math.abs(dragTo - dragFrom)}
              y={MARGIN.top}
              height={bottom - MARGIN.top}
              fill={theme.colors.primary.main}
              fillOpacity={0.2}
            />
          )}
          {pointed && (
            <line
              x1={x(pointed.place)}
              x2={x(pointed.place)}
              y1={MARGIN.top}
              y2={bottom}
              stroke={theme.colors.text.secondary}
              strokeDasharray="3 3"
              pointerEvents="none"
            />
          )}
          {points.length === 0 && (
            <text x={(left + right) / 2} y={(bottom + MARGIN.top) / 2} textAnchor="middle" className={styles.note}>
              {t('trends.no-values', 'These runs have no value of this measure')}
            </text>
          )}
        </svg>
      )}
      {pointed && <PointTooltip point={pointed} unit={unit} x={x} width={width} />}
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

/** One path for all intervals: a thousand runs are a thousand strokes, not a thousand elements. */
function intervals(points: readonly TrendPoint[], x: Scale, y: Scale): string {
  return points
    .flatMap(({ place, interval }) => (interval === null ? [] : [`M${x(place)} ${y(interval[0])}V${y(interval[1])}`]))
    .join('');
}

/** Values that are known only as bounds. */
function bounds(points: readonly TrendPoint[], x: Scale, y: Scale, radius: number): string {
  return points
    .flatMap(({ place, low, high }) =>
      high > low ? [`M${x(place)} ${y(low)}V${Math.min(y(high), y(low) - radius)}`] : []
    )
    .join('');
}

interface DotProps {
  point: TrendPoint;
  x: Scale;
  y: Scale;
  radius: number;
  isPicked: boolean;
}

/** Filled where the run is in the baseline, square where it is pinned; the color is that of its verdict. */
function Dot({ point, x, y, radius, isPicked }: DotProps) {
  const theme = useTheme2();
  const { run, place, low, high } = point;
  const color = run.verdict === null ? theme.colors.text.secondary : verdictColor(run.verdict, theme);
  const [cx, cy] = [x(place), y((low + high) / 2)];
  const look = {
    stroke: isPicked ? theme.colors.primary.text : color,
    strokeWidth: isPicked ? 3 : 1.5,
    fill: run.accepted || run.pinned ? color : theme.colors.background.primary,
    'data-run': run.run_id,
  };
  const size = radius + (isPicked ? 2 : 0);
  return run.pinned ? (
    <rect x={cx - size} y={cy - size} width={2 * size} height={2 * size} {...look} />
  ) : (
    <circle cx={cx} cy={cy} r={size} {...look} />
  );
}

interface BandProps {
  band: TrendBand | null;
  x: Scale;
  y: Scale;
  fill?: string;
  stroke?: string;
  name: string;
}

function Band({ band, x, y, fill, stroke, name }: BandProps) {
  if (band === null) {
    return null;
  }
  const [left, right] = x.range;
  return (
    <rect
      data-band={name}
      x={left}
      width={right - left}
      y={y(band.high)}
      height={Math.max(1, y(band.low) - y(band.high))}
      fill={fill ?? 'none'}
      fillOpacity={0.14}
      {...(stroke && { stroke, strokeDasharray: '5 4' })}
    />
  );
}

/** Change points and new versions, with their text above the drawing where there is place. */
function Marks({
  marks,
  places,
  x,
  bottom,
}: {
  marks: readonly TrendMark[];
  places: readonly [number, number];
  x: Scale;
  bottom: number;
}) {
  const theme = useTheme2();
  const styles = useStyles2(getStyles);
  const colors = {
    worse: theme.colors.error.text,
    better: theme.colors.success.text,
    version: theme.colors.text.secondary,
  };
  const ends = { version: -Infinity, change: -Infinity };
  const shown = marks.filter(({ place }) => place >= places[0] && place <= places[1]).sort((a, b) => a.place - b.place);
  return shown.map(({ place, kind, text }, i) => {
    const row = kind === 'version' ? 'version' : 'change';
    const pixel = x(place - 0.5);
    const hasRoom = pixel > ends[row] && pixel + text.length * 6.5 < x.range[1] + MARGIN.right;
    if (hasRoom) {
      ends[row] = pixel + text.length * 6.5 + 8;
    }
    return (
      <g key={`${kind}${place}${i}`} data-mark={kind}>
        <title>{text}</title>
        <line
          x1={pixel}
          x2={pixel}
          y1={MARGIN.top - 2}
          y2={bottom}
          stroke={colors[kind]}
          strokeWidth={kind === 'version' ? 1 : 1.5}
          {...(kind === 'version' && { strokeDasharray: '2 3' })}
        />
        {hasRoom && (
          <text x={pixel + 3} y={row === 'version' ? 12 : 26} className={styles.note} style={{ fill: colors[kind] }}>
            {text}
          </text>
        )}
      </g>
    );
  });
}

function Axes({ x, y, unit, points }: { x: Scale; y: Scale; unit: Unit; points: readonly TrendPoint[] }) {
  const theme = useTheme2();
  const styles = useStyles2(getStyles);
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const stroke = theme.isDark ? 'rgba(240, 250, 255, 0.09)' : 'rgba(0, 10, 23, 0.09)';
  return (
    <>
      {valueTicks(y.domain, (bottom - top) / PIXELS_PER_TICK.y).map((value) => (
        <g key={value}>
          <line x1={left} x2={right} y1={y(value)} y2={y(value)} stroke={stroke} />
          <text x={left - 8} y={y(value)} dy="0.35em" textAnchor="end" className={styles.tick}>
            {tickText(value, unit)}
          </text>
        </g>
      ))}
      {dated(points, Math.max(1, Math.floor((right - left) / PIXELS_PER_TICK.x))).map(({ place, run }) => (
        <text key={run.run_id} x={x(place)} y={bottom + 16} textAnchor="middle" className={styles.tick}>
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

const TOOLTIP_WIDTH = 280;

function PointTooltip({ point, unit, x, width }: { point: TrendPoint; unit: Unit; x: Scale; width: number }) {
  const styles = useStyles2(getStyles);
  const { run, low, high, interval, n } = point;
  const lines = [
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
    <TooltipBox pointer={x(point.place)} width={width} boxWidth={TOOLTIP_WIDTH} role="status">
      {lines
        .filter(([, text]) => text !== '')
        .map(([name, text]) => (
          <div key={name} className={styles.row}>
            <span className={styles.name}>{name}</span>
            <span>{text}</span>
          </div>
        ))}
    </TooltipBox>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  box: css({
    position: 'relative',
    minWidth: 0,
    '&:focus-visible': { outline: `2px solid ${theme.colors.primary.main}` },
  }),
  chart: css({ display: 'block', cursor: 'crosshair', touchAction: 'none', userSelect: 'none' }),
  tick: css({ fill: theme.colors.text.primary, fontSize: 12 }),
  note: css({ fill: theme.colors.text.secondary, fontSize: 11 }),
  row: css({ display: 'flex', gap: theme.spacing(1), justifyContent: 'space-between' }),
  name: css({ color: theme.colors.text.secondary }),
});
