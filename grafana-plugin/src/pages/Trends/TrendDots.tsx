import { useTheme2 } from '@grafana/ui';
import React, { memo, useMemo } from 'react';
import type { Scale } from '../../../../core/chart/scale.ts';
import { verdictColor } from '../../components/VerdictBadge.tsx';
import { dotGroups, dotPath, isFilled, MANY } from './dot-groups.ts';
import type { TrendPoint } from './trend-points.ts';

interface Props {
  points: readonly TrendPoint[];
  x: Scale;
  y: Scale;
  picked: ReadonlySet<string>;
}

/** Smaller where there are many, so that they do not hide each other. */
const RADIUS = { few: 4, many: 2.5 };

/** The value of each run with its interval: filled where the run is in the baseline; the color is that of its verdict. */
export const TrendDots = memo(function TrendDots({ points, x, y, picked }: Props) {
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
