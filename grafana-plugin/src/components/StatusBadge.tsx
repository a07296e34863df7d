import { t } from '@grafana/i18n';
import { Badge, type BadgeColor } from '@grafana/ui';
import React from 'react';
import type { RunStatus } from '../../../core/run/run.ts';

const COLORS: Record<RunStatus, BadgeColor> = {
  running: 'blue',
  completed: 'green',
  aborted: 'orange',
  failed: 'red',
};

/** The status of a run; the tooltip has the failure reason. */
export function StatusBadge({ status, failure }: { status: RunStatus; failure?: string | null }) {
  return <Badge text={statusText(status)} color={COLORS[status]} {...(failure && { tooltip: failure })} />;
}

export function statusText(status: RunStatus): string {
  switch (status) {
    case 'running':
      return t('status.running', 'running');
    case 'completed':
      return t('status.completed', 'completed');
    case 'aborted':
      return t('status.aborted', 'aborted');
    case 'failed':
      return t('status.failed', 'failed');
  }
}
