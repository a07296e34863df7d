import { useTheme2 } from '@grafana/ui';
import React from 'react';
import type { Scale } from '../../../../../../core/chart/scale.ts';
import { percentileName } from '../../percentile-name.ts';
import { axisStyle } from '../../../../charts/axis-style.ts';
import { BottomAxis, ValueAxis } from '../../../../charts/ValueAxis.tsx';
import type { ValueFormat } from '../value-text.ts';

interface Props {
  x: Scale;
  y: Scale;
  valueTicks: readonly number[];
  format: ValueFormat;
  /** Percentiles that are named on the right, with a line across. */
  percentiles: readonly number[];
}

const SHARES = [0, 0.25, 0.5, 0.75, 1];

/** Values below, the share of the observations at or below them on the left. */
export function CdfAxes({ x, y, valueTicks, format, percentiles }: Props) {
  const [left, right] = x.range;
  const { grid, text } = axisStyle(useTheme2());
  return (
    <g aria-hidden="true" data-part="axes">
      <ValueAxis x={x} y={y} ticks={SHARES} text={(share) => `${share * 100} %`} />
      {percentiles.map((quantile) => (
        <g key={quantile} data-quantile={quantile}>
          <line x1={left} x2={right} y1={y(quantile)} y2={y(quantile)} {...grid} strokeDasharray="4 4" />
          <text x={right + 5} y={y(quantile)} dy="0.35em" {...text}>
            {percentileName(quantile)}
          </text>
        </g>
      ))}
      <BottomAxis x={x} y={y} ticks={valueTicks} text={format} />
    </g>
  );
}
