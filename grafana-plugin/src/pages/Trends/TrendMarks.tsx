import { useStyles2, useTheme2 } from '@grafana/ui';
import React, { memo, useMemo } from 'react';
import type { Scale } from '../../../../core/chart/scale.ts';
import { chartText } from '../../charts/chart-style.ts';
import { verdictColor } from '../../components/Badges.tsx';
import type { TrendMark, TrendPoint, TrendBand } from './trend-points.ts';

/** Pixels to the right of the drawing that a text may use. */
const ROOM_RIGHT = 16;

interface TrendMarksProps {
  marks: readonly TrendMark[];
  /** The shown places of runs, both included. */
  places: readonly [number, number];
  x: Scale;
  y: Scale;
}

/** Change points and new versions, with their text above the drawing where there is place. */
export function TrendMarks({ marks, places, x, y }: TrendMarksProps) {
  const theme = useTheme2();
  const styles = useStyles2(chartText);
  const colors = {
    worse: theme.colors.error.text,
    better: theme.colors.success.text,
    version: theme.colors.text.secondary,
  };
  const [bottom, top] = y.range;
  const ends = { version: -Infinity, change: -Infinity };
  const shown = marks.filter(({ place }) => place >= places[0] && place <= places[1]).sort((a, b) => a.place - b.place);
  return shown.map(({ place, kind, text }, i) => {
    const row = kind === 'version' ? 'version' : 'change';
    const pixel = x(place - 0.5);
    const hasRoom = pixel > ends[row] && pixel + text.length * 6.5 < x.range[1] + ROOM_RIGHT;
    if (hasRoom) {
      ends[row] = pixel + text.length * 6.5 + 8;
    }
    return (
      <g key={`${kind}${place}${i}`} data-mark={kind}>
        <title>{text}</title>
        <line
          x1={pixel}
          x2={pixel}
          y1={top - 2}
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

/** Dots that look the same, drawn at once. */
export interface DotGroup {
  /** Unique among the groups. */
  key: string;
  points: [TrendPoint, ...TrendPoint[]];
  isPicked: boolean;
}

/** More dots than these are drawn by their looks: a thousand elements of their own are slow to make and to paint. */
export const MANY = 150;

/** Each dot alone, or those with the same look together; picked ones are always alone, and above the others. */
export function dotGroups(points: readonly TrendPoint[], picked: ReadonlySet<string>): DotGroup[] {
  const groups = new Map<string, DotGroup>();
  for (const point of points) {
    const { run } = point;
    const isPicked = picked.has(run.run_id);
    const isAlone = isPicked || points.length <= MANY;
    const key = isAlone ? run.run_id : [run.verdict ?? '', isFilled(point), run.pinned].join(' ');
    const group = groups.get(key);
    if (group) {
      group.points.push(point);
    } else {
      groups.set(key, { key, points: [point], isPicked });
    }
  }
  return [...groups.values()].sort((a, b) => Number(a.isPicked) - Number(b.isPicked));
}

/** Runs of the baseline are filled. */
function isFilled({ run }: TrendPoint): boolean {
  return run.accepted || run.pinned;
}

/** A circle, or a square for a pinned run, in the middle of its bounds. */
export function dotPath({ run, place, low, high }: TrendPoint, x: Scale, y: Scale, radius: number): string {
  const [cx, cy] = [x(place), y((low + high) / 2)];
  const width = 2 * radius;
  return run.pinned
    ? `M${cx - radius} ${cy - radius}h${width}v${width}h${-width}z`
    : `M${cx - radius} ${cy}a${radius} ${radius} 0 1 1 ${width} 0a${radius} ${radius} 0 1 1 ${-width} 0z`;
}

interface TrendDotsProps {
  points: readonly TrendPoint[];
  x: Scale;
  y: Scale;
  picked: ReadonlySet<string>;
}

/** Smaller where there are many, so that they do not hide each other. */
const RADIUS = { few: 4, many: 2.5 };

/** The value of each run with its interval: filled where the run is in the baseline; the color is that of its verdict. */
export const TrendDots = memo(function TrendDots({ points, x, y, picked }: TrendDotsProps) {
  const theme = useTheme2();
  const groups = useMemo(() => dotGroups(points, picked), [points, picked]);
  const radius = points.length > MANY ? RADIUS.many : RADIUS.few;
  return (
    <>
      <path d={intervals(points, x, y)} stroke={theme.colors.text.disabled} fill="none" data-drawn="intervals" />
      <path d={bounds(points, x, y, radius)} stroke={theme.colors.text.primary} fill="none" strokeWidth={radius} />
      {groups.map(({ key, points: same, isPicked }) => {
        const [first] = same;
        const { verdict, run_id } = first.run;
        const color = verdict === null ? theme.colors.text.secondary : verdictColor(verdict, theme);
        const size = radius + (isPicked ? 2 : 0);
        return (
          <path
            key={key}
            d={same.map((point) => dotPath(point, x, y, size)).join('')}
            stroke={isPicked ? theme.colors.primary.text : color}
            strokeWidth={isPicked ? 3 : 1.5}
            fill={isFilled(first) ? color : theme.colors.background.primary}
            data-runs={same.length}
            {...(same.length === 1 && { 'data-run': run_id })}
          />
        );
      })}
    </>
  );
});

/** One path for all intervals. */
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

/** Of the range of the baseline, here and in the legend. */
export const BAND_OPACITY = 0.35;

interface TrendBandsProps {
  baseline: TrendBand | null;
  anchor: TrendBand | null;
  x: Scale;
  y: Scale;
}

/** The ranges of the baseline and of the pinned runs. */
export function TrendBands({ baseline, anchor, x, y }: TrendBandsProps) {
  const theme = useTheme2();
  return (
    <>
      <Band band={baseline} x={x} y={y} fill={theme.colors.success.main} name="baseline" />
      <Band band={anchor} x={x} y={y} stroke={theme.colors.warning.main} name="anchor" />
    </>
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
      fillOpacity={BAND_OPACITY}
      {...(stroke && { stroke, strokeDasharray: '5 4' })}
    />
  );
}
