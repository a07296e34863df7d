import { t } from '@grafana/i18n';
import { useTheme2 } from '@grafana/ui';
import React from 'react';
import { Mark, MarkLegend } from '../../charts/MarkLegend.tsx';
import type { ShownSweep } from './chart-curves.ts';
import { diamond } from './CurveChart.tsx';

/** The color of each sweep, and what the marks of all charts mean. */
export function SweepLegend({ shown }: { shown: readonly ShownSweep[] }) {
  const theme = useTheme2();
  const hasObjectives = shown.some(({ sweep }) => sweep.within_objective !== null);
  const text = theme.colors.text.primary;
  return (
    <MarkLegend label={t('sweeps.legend', 'Legend')}>
      {shown.map(({ sweep, name, color }) => (
        <Mark key={sweep.sweep_id} text={<b>{name}</b>} width={18}>
          <line x1={0} x2={18} y1={6} y2={6} stroke={color} strokeWidth={3} />
        </Mark>
      ))}
      {hasObjectives && (
        <>
          <Mark text={t('sweeps.legend-within', 'Largest load within the objective')} width={18}>
            <circle cx={9} cy={6} r={5} fill="none" stroke={theme.colors.success.text} strokeWidth={2} />
          </Mark>
          <Mark text={t('sweeps.legend-hollow', 'Objective not met or undecided')} width={18}>
            <circle cx={9} cy={6} r={4} fill="none" stroke={theme.colors.text.secondary} strokeWidth={2} />
          </Mark>
        </>
      )}
      {shown.some(({ sweep }) => sweep.knee !== null) && (
        <Mark text={t('sweeps.legend-knee', 'Knee (Kneedle)')} width={18}>
          <path d={diamond(9, 6, 5.5)} fill="none" stroke={text} strokeWidth={1.5} />
        </Mark>
      )}
    </MarkLegend>
  );
}
