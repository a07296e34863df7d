import { dateTimeFormat } from '@grafana/data';
import type { ScenarioAnswer } from '../../exporter-api/types.ts';

/** A run within its scenario is known by its start; by its id where the start is unknown. */
export function startText({ start, run_id }: Pick<ScenarioAnswer['runs'][number], 'start' | 'run_id'>): string {
  return start === null ? run_id : dateTimeFormat(start);
}
