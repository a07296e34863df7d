import { Badge, type BadgeColor } from '@grafana/ui';
import React from 'react';
import type { GrafanaTheme2 } from '@grafana/data';
import type { VerdictName } from '../../../core/api/verdict.ts';
import type { ObjectiveVerdict } from '../../../core/run/objectives.ts';
import type { RunStatus } from '../../../core/run/run.ts';
import { ABSENT } from '../../../core/text/quantities.ts';
import { t } from '../text.ts';

const STATUS_COLORS: Record<RunStatus, BadgeColor> = {
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
  return <Badge text={text} color={STATUS_COLORS[status]} {...(failure && { tooltip: failure })} />;
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

const VERDICT_COLORS: Record<VerdictName, BadgeColor> = {
  regressed: 'red',
  suspect: 'orange',
  undecided: 'purple',
  unchanged: 'blue',
  improved: 'green',
};

/** The tooltip has the sentence. */
export function VerdictBadge({ verdict, sentence }: { verdict: VerdictName; sentence?: string }) {
  return <Badge text={verdictText(verdict)} color={VERDICT_COLORS[verdict]} {...(sentence && { tooltip: sentence })} />;
}

/** The color of drawings, the same as that of the badge. */
export function verdictColor(verdict: VerdictName, theme: GrafanaTheme2): string {
  return theme.visualization.getColorByName(VERDICT_COLORS[verdict]);
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

const OBJECTIVE_COLORS: Record<ObjectiveVerdict, BadgeColor> = { met: 'green', not_met: 'red', undecided: 'orange' };

/** Whether objectives were met; a dash where there are none. */
export function ObjectiveBadge({ verdict }: { verdict: ObjectiveVerdict | null }) {
  return verdict === null ? <>{ABSENT}</> : <Badge color={OBJECTIVE_COLORS[verdict]} text={objectiveText(verdict)} />;
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
