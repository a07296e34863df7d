import React from 'react';

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
