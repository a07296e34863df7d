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

interface Props {
  status: RunStatus;
  /** In the tooltip. */
  failure?: string | null;
  /** Of several runs, those with the status. */
  count?: number;
}

export function StatusBadge({ status, failure, count }: Props) {
  const text = [count, statusText(status)].filter((part) => part !== undefined).join(' ');
  return <Badge text={text} color={COLORS[status]} {...(failure && { tooltip: failure })} />;
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
