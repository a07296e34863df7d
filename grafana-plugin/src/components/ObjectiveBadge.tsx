import { t } from '@grafana/i18n';
import { Badge, type BadgeColor } from '@grafana/ui';
import React from 'react';
import type { ObjectiveVerdict } from '../../../core/run/objectives.ts';
import { ABSENT } from '../../../core/text/quantities.ts';

const COLORS: Record<ObjectiveVerdict, BadgeColor> = { met: 'green', not_met: 'red', undecided: 'orange' };

/** Whether objectives were met; a dash where there are none. */
export function ObjectiveBadge({ verdict }: { verdict: ObjectiveVerdict | null }) {
  return verdict === null ? <>{ABSENT}</> : <Badge color={COLORS[verdict]} text={objectiveText(verdict)} />;
}

export function objectiveText(verdict: ObjectiveVerdict): string {
  switch (verdict) {
    case 'met':
      return t('objective.met', 'met');
    case 'not_met':
      return t('objective.not-met', 'not met');
    case 'undecided':
      return t('objective.undecided', 'undecided');
  }
}
