import React, { useId } from 'react';
import type { PercentileLine } from './lines.ts';

interface Props {
  id: string;
  color: string;
  /** Direction of the strokes in degrees. */
  angle: number;
  /** Distance of the strokes in pixels. */
  gap: number;
}

/** An SVG pattern of thin strokes, to be used as `fill="url(#id)"`. */
export function Hatch({ id, color, angle, gap }: Props) {
  return (
    <pattern id={id} width={gap} height={gap} patternUnits="userSpaceOnUse" patternTransform={`rotate(${angle})`}>
      <line x1={0} y1={0} x2={0} y2={gap} stroke={color} strokeWidth={1.4} strokeOpacity={0.55} />
    </pattern>
  );
}

const WIDTH = 22;
const HEIGHT = 12;

/** A small piece of the line with its interval, as in the drawing. */
export function Swatch({ line }: { line: PercentileLine }) {
  const id = useId().replaceAll(':', '');
  const { color, dash, series } = line;
  const isBound = series.source.trueCounts;
  return (
    <svg width={WIDTH} height={HEIGHT} aria-hidden="true" style={{ display: 'block', flexShrink: 0 }}>
      {!isBound && <Hatch id={id} color={color} angle={45} gap={5} />}
      <rect
        x={0.5}
        y={0.5}
        width={WIDTH - 1}
        height={HEIGHT - 1}
        fill={isBound ? color : `url(#${id})`}
        fillOpacity={isBound ? 0.25 : 0.7}
        stroke={isBound ? 'none' : color}
        strokeOpacity={0.7}
        strokeDasharray="3 3"
      />
      <line x1={0} x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} stroke={color} strokeWidth={2} strokeDasharray={dash} />
    </svg>
  );
}

/** The same of a line without an interval. */
export function GivenSwatch({ color }: { color: string }) {
  return (
    <svg width={WIDTH} height={HEIGHT} aria-hidden="true" style={{ display: 'block', flexShrink: 0 }}>
      <line
        x1={2}
        x2={WIDTH}
        y1={HEIGHT / 2}
        y2={HEIGHT / 2}
        stroke={color}
        strokeWidth={2.5}
        strokeLinecap="round"
        strokeDasharray="0.1 6"
      />
    </svg>
  );
}
