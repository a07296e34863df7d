import { t } from '@grafana/i18n';
import { useTheme2 } from '@grafana/ui';
import React from 'react';
import { Mark, MarkLegend } from '../../charts/MarkLegend.tsx';
import { ADVISED_QUANTILES, type AdvisedPercentile } from '../../../../core/histogram/bucket-advice.ts';
import { percentileColor } from './percentile-color.ts';

/** What the drawings of all families mean. */
export function BucketLegend({ hasProposals }: { hasProposals: boolean }) {
  const theme = useTheme2();
  return (
    <MarkLegend label={t('buckets.legend', 'Legend')}>
      <Mark text={t('buckets.legend-count', 'observations per bucket')}>
        <rect x={2} width={12} height={12} fill={theme.colors.text.secondary} fillOpacity={0.35} />
      </Mark>
      <Mark text={t('buckets.legend-bound', 'bound')}>
        <line x1={8} x2={8} y1={0} y2={12} stroke={theme.colors.text.secondary} />
      </Mark>
      {Object.keys(ADVISED_QUANTILES).map((percentile) => (
        <Mark key={percentile} text={t('buckets.legend-interval', '{{percentile}} lies here', { percentile })}>
          <rect y={3} width={16} height={7} fill={percentileColor(percentile as AdvisedPercentile, theme)} />
        </Mark>
      ))}
      {hasProposals && (
        <Mark text={t('buckets.legend-proposed', 'bound to add')}>
          <line x1={8} x2={8} y1={0} y2={12} stroke={theme.colors.warning.text} strokeWidth={2} strokeDasharray="4 3" />
        </Mark>
      )}
    </MarkLegend>
  );
}
