import { t } from '@grafana/i18n';
import React from 'react';
import type { Scale } from '../../../../core/chart/scale.ts';
import type { SweepPoint } from '../../../../core/sweeps/sweep-curves.ts';
import { TooltipBox } from '../../charts/TooltipBox.tsx';
import { TooltipRows } from '../../charts/TooltipRows.tsx';
import type { ChartCurve } from './chart-curves.ts';

export interface Axis {
  title: string;
  text: (value: number) => string;
  /** Logarithmic where the values span more than a factor of 20. */
  mayBeLog?: boolean;
}

export interface Pointed {
  curve: ChartCurve;
  point: SweepPoint;
}

const WIDTH = 280;

interface Props {
  pointed: Pointed;
  xAxis: Axis;
  yAxis: Axis;
  x: Scale;
  width: number;
}

/** The step that is pointed at. */
export function CurveTooltip({ pointed: { curve, point }, xAxis, yAxis, x, width }: Props) {
  const { step } = point;
  const range = ([low, high]: readonly [number, number], { text }: Axis) =>
    low === high ? '' : ` (${text(low)} – ${text(high)})`;
  const objective = {
    met: t('sweeps.objective-met', 'met'),
    not_met: t('sweeps.objective-not-met', 'not met'),
    undecided: t('sweeps.objective-undecided', 'undecided'),
  };
  const rows: Array<[string, string]> = [
    [t('sweeps.load', 'Load'), step.load.toLocaleString('en-US')],
    [xAxis.title, `${xAxis.text(point.x)}${range(point.xRange, xAxis)}`],
    [yAxis.title, `${yAxis.text(point.y)}${range(point.yRange, yAxis)}`],
    [t('sweeps.runs', 'Runs'), String(step.runs.length)],
    ...(step.objective === null
      ? []
      : [[t('sweeps.objective', 'Objective'), objective[step.objective]] as [string, string]]),
  ];
  return (
    <TooltipBox pointer={x(point.x)} width={width} boxWidth={WIDTH} role="status">
      <b>{curve.shown.name}</b>
      <TooltipRows rows={rows} />
    </TooltipBox>
  );
}
