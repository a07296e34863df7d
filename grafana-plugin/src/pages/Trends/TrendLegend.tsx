import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { useStyles2, useTheme2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import { verdictColor, verdictText } from '../../components/VerdictBadge.tsx';
import type { VerdictName } from '../../exporter-api/types.ts';

const VERDICTS: readonly VerdictName[] = ['regressed', 'suspect', 'undecided', 'unchanged', 'improved'];

/** What the drawings of all charts mean. */
export function TrendLegend() {
  const styles = useStyles2(getStyles);
  const theme = useTheme2();
  const grey = theme.colors.text.secondary;
  return (
    <ul className={styles.legend} aria-label={t('trends.legend', 'Legend')}>
      <Item text={t('trends.legend-run', 'run')}>
        <circle cx={8} cy={6} r={4} fill="none" stroke={grey} strokeWidth={1.5} />
      </Item>
      <Item text={t('trends.legend-accepted', 'in the baseline')}>
        <circle cx={8} cy={6} r={4} fill={grey} />
      </Item>
      <Item text={t('trends.legend-pinned', 'pinned')}>
        <rect x={4} y={2} width={8} height={8} fill={grey} />
      </Item>
      {VERDICTS.map((verdict) => (
        <Item key={verdict} text={verdictText(verdict)}>
          <circle cx={8} cy={6} r={4} fill={verdictColor(verdict, theme)} />
        </Item>
      ))}
      <Item text={t('trends.legend-interval', '95 % interval within the run')}>
        <line x1={8} x2={8} y1={0} y2={12} stroke={grey} />
      </Item>
      <Item text={t('trends.legend-baseline', 'range of the baseline')}>
        <rect width={16} height={12} fill={theme.colors.success.main} fillOpacity={0.25} />
      </Item>
      <Item text={t('trends.legend-anchor', 'range of the pinned runs')}>
        <rect x={1} y={1} width={14} height={10} fill="none" stroke={theme.colors.warning.main} strokeDasharray="4 3" />
      </Item>
      <Item text={t('trends.legend-change', 'change point')}>
        <line x1={8} x2={8} y1={0} y2={12} stroke={theme.colors.error.text} strokeWidth={1.5} />
      </Item>
    </ul>
  );
}

function Item({ text, children }: { text: string; children: ReactNode }) {
  const styles = useStyles2(getStyles);
  return (
    <li className={styles.item}>
      <svg width={16} height={12} aria-hidden="true">
        {children}
      </svg>
      {text}
    </li>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  legend: css({
    ...theme.typography.bodySmall,
    listStyle: 'none',
    margin: 0,
    display: 'flex',
    flexWrap: 'wrap',
    gap: theme.spacing(0.5, 2),
  }),
  item: css({ display: 'inline-flex', alignItems: 'center', gap: theme.spacing(0.75) }),
});
