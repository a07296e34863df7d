import { t } from '@grafana/i18n';
import { Badge } from '@grafana/ui';
import React from 'react';
import type { SloResult } from '../../../core/run/gates.ts';
import { ABSENT } from '../../../core/text/quantities.ts';

/** Whether objectives were met; a dash where there are none. */
export function ObjectiveBadge({ verdict }: { verdict: SloResult['verdict'] | null }) {
  switch (verdict) {
    case 'met':
      return <Badge color="green" text={t('objective.met', 'met')} />;
    case 'not_met':
      return <Badge color="red" text={t('objective.not-met', 'not met')} />;
    case 'undecided':
      return <Badge color="orange" text={t('objective.undecided', 'undecided')} />;
    case null:
      return <>{ABSENT}</>;
  }
}
