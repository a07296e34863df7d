import { t } from '@grafana/i18n';
import type { BaselineAction, ScenarioResponse } from '../../../../core/api/scenarios.ts';

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
