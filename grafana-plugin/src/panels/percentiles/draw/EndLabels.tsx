import { useTheme2 } from '@grafana/ui';
import React from 'react';
import type { Scale } from '../../../../../core/chart/scale.ts';
import type { PercentileLine } from './lines.ts';

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

/** A text behind the end of a line; `top` is its middle, in pixels. */
interface EndLabel {
  left: number;
  top: number;
}

const LINE_HEIGHT = 13;
/** Labels closer than this to each other are in one column. */
const SAME_PLACE = 40;

/**
 * Moves labels that would cover each other apart, downwards and, where the drawing ends, upwards again. Expects and
 * keeps the order from top to bottom.
 */
export function placeLabels<Label extends EndLabel>(labels: readonly Label[], bottom: number): Label[] {
  const placed = labels.map((label) => ({ ...label }));
  const inColumn = (label: EndLabel, others: Label[]) =>
    others.filter((other) => Math.abs(other.left - label.left) < SAME_PLACE).map(({ top }) => top);
  placed.forEach((label, i) => {
    label.top = Math.max(label.top, ...inColumn(label, placed.slice(0, i)).map((top) => top + LINE_HEIGHT));
  });
  for (let i = placed.length - 1; i >= 0; i--) {
    const label = placed[i];
    if (label) {
      label.top = Math.min(label.top, bottom, ...inColumn(label, placed.slice(i + 1)).map((top) => top - LINE_HEIGHT));
    }
  }
  return placed;
}
