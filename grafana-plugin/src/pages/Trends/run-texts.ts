import { dateTimeFormat } from '@grafana/data';
import { t } from '@grafana/i18n';
import type { Unit } from '../../../../core/run/statistic.ts';
import { ABSENT, quantity, quantityRange } from '../../../../core/text/quantities.ts';
import type { ScenarioResponse } from '../../../../core/api/scenarios.ts';

type Run = ScenarioResponse['runs'][number];

/** A run within its scenario is known by its start; by its id where the start is unknown. */
export function startText({ start, run_id }: Pick<Run, 'start' | 'run_id'>): string {
  return start === null ? run_id : dateTimeFormat(start);
}

/** What the run is in the baseline; empty where it is not part of it. */
export function standingText({ accepted, pinned }: Pick<Run, 'accepted' | 'pinned'>): string {
  return [
    ...(accepted ? [t('trends.accepted', 'accepted')] : []),
    ...(pinned ? [t('trends.pinned', 'pinned')] : []),
  ].join(', ');
}

/** A value of a run: exact, or two bounds. */
export function valueText(value: NonNullable<Run['values'][number]>['value'] | undefined, unit: Unit): string {
  const [low, high] = Array.isArray(value) ? value : [value, value];
  if (typeof low !== 'number' || typeof high !== 'number') {
    return ABSENT;
  }
  return high > low ? quantityRange([low, high], unit) : quantity(low, unit);
}
