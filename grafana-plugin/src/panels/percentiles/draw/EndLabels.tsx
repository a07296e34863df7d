import { useTheme2 } from '@grafana/ui';
import React from 'react';
import type { PercentileLine } from './lines.ts';
import { placeLabels } from './place-labels.ts';
import type { Scale } from './scale.ts';

interface Props {
  lines: readonly PercentileLine[];
  x: Scale;
  y: Scale;
}

/** The percentile's name at the end of its line, so that lines are distinguishable without color. */
export function EndLabels({ lines, x, y }: Props) {
  const theme = useTheme2();
  const labels = lines.flatMap((line) => {
    const last = line.series.points.at(-1);
    const percentile = last?.percentiles[line.index];
    if (!last || !percentile) {
      return [];
    }
    const value = percentile.overflow ? Infinity : percentile.estimate;
    const endMs = line.series.source.kind === 'total' ? x.domain[1] : last.endMs;
    return [{ line, left: x(endMs) + 5, top: Math.max(y.range[1] + 4, Math.min(y.range[0], y(value))) }];
  });
  labels.sort((a, b) => a.top - b.top || b.line.index - a.line.index);
  return (
    <g aria-hidden="true" data-part="end-labels">
      {placeLabels(labels, y.range[0]).map(({ line, left, top }) => (
        <text
          key={line.key}
          x={left}
          y={top}
          dy="0.35em"
          fontSize={12}
          fontWeight={500}
          fontFamily={theme.typography.fontFamily}
          fill={line.color}
        >
          {line.percentile}
        </text>
      ))}
    </g>
  );
}
