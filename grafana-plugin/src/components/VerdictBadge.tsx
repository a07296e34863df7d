import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Badge, type BadgeColor } from '@grafana/ui';
import React from 'react';
import type { VerdictName } from '../../../core/api/verdict.ts';

const COLORS: Record<VerdictName, BadgeColor> = {
  regressed: 'red',
  suspect: 'orange',
  undecided: 'purple',
  unchanged: 'blue',
  improved: 'green',
};

/** The tooltip has the sentence. */
export function VerdictBadge({ verdict, sentence }: { verdict: VerdictName; sentence?: string }) {
  return <Badge text={verdictText(verdict)} color={COLORS[verdict]} {...(sentence && { tooltip: sentence })} />;
}

/** The color of drawings, the same as that of the badge. */
export function verdictColor(verdict: VerdictName, theme: GrafanaTheme2): string {
  return theme.visualization.getColorByName(COLORS[verdict]);
}

export function verdictText(verdict: VerdictName): string {
  switch (verdict) {
    case 'regressed':
      return t('verdict.regressed', 'regressed');
    case 'suspect':
      return t('verdict.suspect', 'suspect');
    case 'undecided':
      return t('verdict.undecided', 'undecided');
    case 'unchanged':
      return t('verdict.unchanged', 'unchanged');
    case 'improved':
      return t('verdict.improved', 'improved');
  }
}
