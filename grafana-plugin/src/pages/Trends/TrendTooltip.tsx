import { t } from '@grafana/i18n';
import React from 'react';
import type { Scale } from '../../../../core/chart/scale.ts';
import type { Unit } from '../../../../core/run/statistic.ts';
import { counted, quantityRange } from '../../../../core/text/quantities.ts';
import { TooltipBox } from '../../charts/TooltipBox.tsx';
import { TooltipRows } from '../../charts/TooltipRows.tsx';
import { verdictText } from '../../components/VerdictBadge.tsx';
import { standingText, startText, valueText } from './run-texts.ts';
import type { TrendPoint } from './trend-points.ts';

interface Props {
  point: TrendPoint;
  unit: Unit;
  x: Scale;
  /** Pixels of the chart. */
  width: number;
}

const WIDTH = 280;

/** The run that is pointed at. */
export function TrendTooltip({ point, unit, x, width }: Props) {
  const { run, low, high, interval, n } = point;
  const rows: Array<[string, string]> = [
    [startText(run), valueText([low, high], unit)],
    [
      t('trends.interval', '95 % interval within the run'),
      interval === null ? t('trends.no-interval', 'not available') : quantityRange(interval, unit),
    ],
    [t('trends.n', 'n'), counted(n)],
    [
      t('trends.verdict', 'Verdict'),
      run.verdict === null ? t('trends.not-judged', 'not judged') : verdictText(run.verdict),
    ],
    [t('trends.baseline', 'Baseline'), standingText(run)],
    [t('trends.system', 'System'), [run.system, run.system_version].filter(Boolean).join(' ')],
  ];
  return (
    <TooltipBox pointer={x(point.place)} width={width} boxWidth={WIDTH} role="status">
      <TooltipRows rows={rows} />
    </TooltipBox>
  );
}
