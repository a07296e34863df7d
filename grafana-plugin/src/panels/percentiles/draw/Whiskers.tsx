import React from 'react';
import type { Whisker } from './whiskers.ts';

interface Props {
  whiskers: readonly Whisker[];
  color: string;
}

const CAP = 4;
const ARROW = 9;

/** Sampling intervals as whiskers; an arrow instead of a cap where there is no upper end. */
export function Whiskers({ whiskers, color }: Props) {
  return (
    <g data-part="whiskers" stroke={color} strokeWidth={1.2} fill="none" strokeOpacity={0.9}>
      {whiskers.map(({ x, low, estimate, high }) => {
        const tip = estimate - 2 * ARROW;
        const end =
          high === null
            ? `V${tip}M${x - CAP},${tip + CAP}L${x},${tip}L${x + CAP},${tip + CAP}`
            : `V${high}M${x - CAP},${high}H${x + CAP}`;
        return <path key={x} d={`M${x - CAP},${low}H${x + CAP}M${x},${low}${end}`} />;
      })}
    </g>
  );
}
