import { useStyles2, useTheme2 } from '@grafana/ui';
import React from 'react';
import type { Scale } from '../../../../core/chart/scale.ts';
import { chartText } from '../../charts/chart-text.ts';
import type { TrendMark } from './trend-points.ts';

/** Pixels to the right of the drawing that a text may use. */
const ROOM_RIGHT = 16;

interface Props {
  marks: readonly TrendMark[];
  /** The shown places of runs, both included. */
  places: readonly [number, number];
  x: Scale;
  y: Scale;
}

/** Change points and new versions, with their text above the drawing where there is place. */
export function TrendMarks({ marks, places, x, y }: Props) {
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
