import { useTheme2 } from '@grafana/ui';
import React, { type ReactNode, type SVGProps } from 'react';
import type { Scale } from '../../../../../core/chart/scale.ts';

interface Props extends Pick<
  SVGProps<SVGRectElement>,
  'onPointerDown' | 'onPointerMove' | 'onPointerUp' | 'onPointerLeave' | 'style'
> {
  width: number;
  height: number;
  x: Scale;
  y: Scale;
  /** Position of the vertical line, in pixels; null for none. */
  crosshair: number | null;
  children: ReactNode;
}

/** A layer over a drawing that handles pointer events and shows the crosshair; `children` are drawn above it. */
export function PointerArea({ width, height, x, y, crosshair, children, style, ...events }: Props) {
  const theme = useTheme2();
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  return (
    <svg
      width={width}
      height={height}
      aria-hidden="true"
      style={{ position: 'absolute', inset: 0, willChange: 'transform' }}
    >
      {crosshair !== null && crosshair >= left && crosshair <= right && (
        <line
          x1={crosshair}
          x2={crosshair}
          y1={top}
          y2={bottom}
          stroke={theme.colors.text.secondary}
          strokeDasharray="4 3"
        />
      )}
      {children}
      <rect
        data-part="pointer"
        x={left}
        y={top}
        width={right - left}
        height={Math.max(0, bottom - top)}
        fill="transparent"
        style={{ cursor: 'crosshair', ...style }}
        {...events}
      />
    </svg>
  );
}
