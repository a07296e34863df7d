import type { FamilyInput } from '../../core/exposition/index.ts';

/** When the newest completed run of each scenario ended, in Unix seconds by its name. */
export function lastCompletedFamily(seconds: Iterable<readonly [scenario: string, seconds: number]>): FamilyInput {
  return {
    name: 'llmbench_scenario_last_completed_timestamp_seconds',
    help: 'Unix time at which the newest completed run of the scenario ended.',
    type: 'gauge',
    samples: [...seconds].map(([scenario, value]) => ({ labels: { scenario }, value })),
  };
}
