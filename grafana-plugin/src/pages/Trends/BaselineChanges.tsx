import { dateTimeFormat } from '@grafana/data';
import { Alert, Button } from '@grafana/ui';
import React, { useMemo } from 'react';
import type { BaselineAction, ScenarioResponse } from '../../../../core/api/scenarios.ts';
import { ABSENT } from '../../../../core/text/quantities.ts';
import { DataTable, type Column } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { t } from '../../text.ts';

type Run = ScenarioResponse['runs'][number];

/** A change that somebody is about to make. */
export interface DraftChange {
  action: BaselineAction;
  runIds: readonly string[];
}

export const BASELINE_ACTIONS = ['accept', 'pin', 'unpin', 'drop'] as const satisfies readonly BaselineAction[];

/** The runs to which the action makes a difference, the newest first. */
export function runsFor(
  action: BaselineAction,
  { runs, baseline }: Pick<ScenarioResponse, 'runs' | 'baseline'>
): readonly Run[] {
  const dropped = new Set(baseline.dropped);
  switch (action) {
    case 'accept':
      return runs.filter(({ accepted }) => !accepted);
    case 'pin':
      return runs;
    case 'unpin':
      return runs.filter(({ pinned }) => pinned);
    case 'drop':
      return runs.filter(({ run_id }) => !dropped.has(run_id));
  }
}

/** The same change with another action: without the runs to which that makes no difference. */
export function withAction(
  { runIds }: DraftChange,
  action: BaselineAction,
  scenario: Pick<ScenarioResponse, 'runs' | 'baseline'>
): DraftChange {
  const fitting = new Set(runsFor(action, scenario).map(({ run_id }) => run_id));
  return { action, runIds: runIds.filter((id) => fitting.has(id)) };
}

export function actionName(action: BaselineAction): string {
  switch (action) {
    case 'accept':
      return t('baseline.accept', 'Accept');
    case 'pin':
      return t('baseline.pin', 'Pin');
    case 'unpin':
      return t('baseline.unpin', 'Unpin');
    case 'drop':
      return t('baseline.drop', 'Drop');
  }
}

/** What the action does; `pinned` is the number of runs that are pinned now. */
export function actionMeaning(action: BaselineAction, pinned: number): string {
  switch (action) {
    case 'accept':
      return t('baseline.accept-meaning', 'Adds the runs to the baseline that new runs are compared with.');
    case 'pin':
      return pinned === 0
        ? t('baseline.pin-meaning', 'Makes the runs the anchor against slow drift.')
        : t(
            'baseline.pin-replaces',
            'Makes the runs the anchor against slow drift, instead of the {{pinned}} runs that are pinned now.',
            { pinned }
          );
    case 'unpin':
      return t('baseline.unpin-meaning', 'Removes the runs from the anchor; accepted runs stay in the baseline.');
    case 'drop':
      return t(
        'baseline.drop-meaning',
        'Removes the runs from the baseline and from the anchor; checks do not accept them again by themselves.'
      );
  }
}

export function actionButton(action: BaselineAction, count: number): string {
  const name = actionName(action);
  return count === 1
    ? t('baseline.confirm-one', '{{action}} 1 run', { action: name })
    : t('baseline.confirm', '{{action}} {{count}} runs', { action: name, count });
}

type Baseline = ScenarioResponse['baseline'];
type Change = Baseline['entries'][number];

const MAX_ROWS = 20;
const MAX_IDS = 3;

interface Props {
  baseline: Baseline;
  /** Starts a change; null where that is not allowed. */
  onChange: ((draft: DraftChange) => void) | null;
}

/** Who changed the baseline, when and why, the newest first. */
export function BaselineChanges({ baseline, onChange }: Props) {
  const columns = useMemo(() => changeColumns(), []);
  const shown = baseline.entries.slice(0, MAX_ROWS);
  return (
    <Section
      title={t('trends.changes', 'Changes of the baseline')}
      actions={
        onChange !== null && (
          <Button size="sm" variant="secondary" onClick={() => onChange({ action: 'accept', runIds: [] })}>
            {t('trends.change-baseline', 'Change baseline')}
          </Button>
        )
      }
      {...(baseline.total_entries > shown.length && {
        description: t('trends.changes-newest', 'The newest {{shown}} of {{total}} changes', {
          shown: shown.length,
          total: baseline.total_entries,
        }),
      })}
    >
      {baseline.damaged_lines.length > 0 && (
        <Alert
          severity="warning"
          title={t('trends.changes-damaged', 'Lines of baseline.jsonl that cannot be read are left out: {{lines}}', {
            lines: baseline.damaged_lines.join(', '),
          })}
        />
      )}
      {shown.length === 0 ? (
        <p>{t('trends.changes-none', 'No run was accepted, pinned or dropped yet.')}</p>
      ) : (
        <DataTable
          label={t('trends.changes', 'Changes of the baseline')}
          columns={columns}
          rows={shown}
          rowKey={({ at, action }) => `${at} ${action}`}
        />
      )}
    </Section>
  );
}

function changeColumns(): Array<Column<Change>> {
  return [
    { id: 'at', header: t('trends.change.at', 'Time'), render: ({ at }) => dateTimeFormat(at) },
    { id: 'action', header: t('trends.change.action', 'Action'), render: ({ action }) => action },
    {
      id: 'runs',
      header: t('trends.change.runs', 'Runs'),
      wraps: true,
      render: ({ run_ids }) => (
        <span title={run_ids.join('\n')}>
          {run_ids.length > MAX_IDS
            ? t('trends.change.count', '{{count}} runs', { count: run_ids.length })
            : run_ids.join(', ')}
        </span>
      ),
    },
    {
      id: 'reason',
      header: t('trends.change.reason', 'Reason'),
      wraps: true,
      render: ({ reason }) => reason ?? ABSENT,
    },
    { id: 'author', header: t('trends.change.author', 'Author'), render: ({ author }) => author ?? ABSENT },
  ];
}
