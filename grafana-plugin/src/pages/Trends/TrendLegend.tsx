import { t } from '@grafana/i18n';
import { useTheme2 } from '@grafana/ui';
import React from 'react';
import { Mark, MarkLegend } from '../../charts/MarkLegend.tsx';
import { verdictColor, verdictText } from '../../components/VerdictBadge.tsx';
import { BAND_OPACITY } from './TrendBands.tsx';
import type { VerdictName } from '../../exporter-api/types.ts';

const VERDICTS: readonly VerdictName[] = ['regressed', 'suspect', 'undecided', 'unchanged', 'improved'];

/** What the drawings of all charts mean. */
export function TrendLegend() {
  const theme = useTheme2();
  const grey = theme.colors.text.secondary;
  return (
    <MarkLegend label={t('trends.legend', 'Legend')}>
      <Mark text={t('trends.legend-run', 'run')}>
        <circle cx={8} cy={6} r={4} fill="none" stroke={grey} strokeWidth={1.5} />
      </Mark>
      <Mark text={t('trends.legend-accepted', 'in the baseline')}>
        <circle cx={8} cy={6} r={4} fill={grey} />
      </Mark>
      <Mark text={t('trends.legend-pinned', 'pinned')}>
        <rect x={4} y={2} width={8} height={8} fill={grey} />
      </Mark>
      {VERDICTS.map((verdict) => (
        <Mark key={verdict} text={verdictText(verdict)}>
          <circle cx={8} cy={6} r={4} fill={verdictColor(verdict, theme)} />
        </Mark>
      ))}
      <Mark text={t('trends.legend-interval', '95 % interval within the run')}>
        <line x1={8} x2={8} y1={0} y2={12} stroke={grey} />
      </Mark>
      <Mark text={t('trends.legend-baseline', 'range of the baseline')}>
        <rect width={16} height={12} fill={theme.colors.success.main} fillOpacity={BAND_OPACITY} />
      </Mark>
      <Mark text={t('trends.legend-anchor', 'range of the pinned runs')}>
        <rect x={1} y={1} width={14} height={10} fill="none" stroke={theme.colors.warning.main} strokeDasharray="4 3" />
      </Mark>
      <Mark text={t('trends.legend-change', 'change point')}>
        <line x1={8} x2={8} y1={0} y2={12} stroke={theme.colors.error.text} strokeWidth={1.5} />
      </Mark>
    </MarkLegend>
  );
}
