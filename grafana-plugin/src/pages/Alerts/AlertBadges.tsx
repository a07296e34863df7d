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

const FIRING_COLORS: Readonly<Record<string, BadgeColor>> = { critical: 'red', warning: 'orange', info: 'blue' };

interface Props {
  state: ShownState;
  /** Of the rule, which colors what fires; null: not known. */
  severity?: string | null;
}

export function StateBadge({ state, severity = null }: Props) {
  const color = state === 'firing' ? (FIRING_COLORS[severity ?? ''] ?? COLORS.firing) : COLORS[state];
  return <Badge text={stateText(state)} color={color} />;
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
