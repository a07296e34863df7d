import type { RunSummary } from '../../../core/api/runs.ts';

/**
 * When the newest completed run of each scenario ended, in Unix seconds. A run without a time of its own says nothing of when
 * its scenario was last completed.
 */
export function lastCompleted(runs: readonly RunSummary[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>();
  for (const { status, scenario, start, end } of runs) {
    if (status !== 'completed' || start === null || end === null) continue;
    latest.set(scenario, Math.max(latest.get(scenario) ?? -Infinity, Date.parse(end) / 1000));
  }
  return latest;
}
