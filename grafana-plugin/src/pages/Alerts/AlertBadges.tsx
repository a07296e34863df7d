import { t } from '@grafana/i18n';
import { Badge, type BadgeColor } from '@grafana/ui';
import React from 'react';
import type { AlertState } from './alert-rules.ts';

/** What is shown of a rule or an alert. */
export type ShownState = AlertState | 'inactive' | 'error' | 'missing' | 'paused';

const COLORS: Record<ShownState, BadgeColor> = {
  firing: 'red',
  pending: 'orange',
  inactive: 'green',
  error: 'purple',
  missing: 'darkgrey',
  paused: 'blue',
};

export function StateBadge({ state }: { state: ShownState }) {
  return <Badge text={stateText(state)} color={COLORS[state]} />;
}

function stateText(state: ShownState): string {
  switch (state) {
    case 'firing':
      return t('alerts.state.firing', 'firing');
    case 'pending':
      return t('alerts.state.pending', 'pending');
    case 'inactive':
      return t('alerts.state.inactive', 'inactive');
    case 'error':
      return t('alerts.state.error', 'error');
    case 'missing':
      return t('alerts.state.missing', 'missing');
    case 'paused':
      return t('alerts.state.paused', 'paused');
  }
}
