import { useTheme2 } from '@grafana/ui';
import React from 'react';
import type { Scale } from '../../../../core/chart/scale.ts';
import type { TrendBand } from './trend-points.ts';

/** Of the range of the baseline, here and in the legend. */
export const BAND_OPACITY = 0.35;

interface Props {
  baseline: TrendBand | null;
  anchor: TrendBand | null;
  x: Scale;
  y: Scale;
}

/** The ranges of the baseline and of the pinned runs. */
export function TrendBands({ baseline, anchor, x, y }: Props) {
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
