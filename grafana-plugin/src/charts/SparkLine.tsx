import { useTheme2 } from '@grafana/ui';
import React from 'react';
import { pathOf } from '../../../core/chart/path.ts';

interface Props {
  /** In the order of time; null is a gap. */
  values: ReadonlyArray<number | null>;
  label: string;
  width?: number;
  height?: number;
}

/** The history of a number; the last point is the number next to it. */
export function SparkLine({ values, label, width = 44, height = 20 }: Props) {
  const theme = useTheme2();
  const known = values.filter((value): value is number => value !== null);
  if (known.length < 2) {
    return null;
  }
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const x = (i: number) => 2 + (i / (values.length - 1)) * (width - 4);
  const y = (value: number) => height - 3 - (high === low ? 0.5 : (value - low) / (high - low)) * (height - 6);
  const path = pathOf(values.map((value, i) => [x(i), value === null ? null : y(value)]));
  const last = values.at(-1);
  return (
    <svg width={width} height={height} role="img" aria-label={label}>
      <title>{label}</title>
      <path d={path} fill="none" stroke={theme.colors.text.secondary} strokeWidth={1.25} />
      {last !== null && last !== undefined && (
        <circle cx={x(values.length - 1)} cy={y(last)} r={2} fill={theme.colors.text.primary} />
      )}
    </svg>
  );
}
