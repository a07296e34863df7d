import type { FamilyInput } from '../../core/exposition/index.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { resultSamples } from './result-samples.ts';

export const LAST_RESULT = 'llmbench_scenario_last_result';

/** Statistics that queries select by scenario; `llmbench_result_*` has all of each run. */
const STATS: ReadonlySet<string> = new Set([
  ...['value', 'mean', 'p50', 'p90', 'p95', 'p99'],
  ...['ok', 'error', 'timeout', 'cancelled'],
]);

/**
 * The results of a run under the names of its scenario and fingerprint, so that a query needs no join to find the newest
 * ones. Of two numbers with equal labels (definitions that differ) the first stands.
 */
export function lastResultFamily({ scenario, fingerprint }: RunFile, result: ResultFile): FamilyInput {
  const samples = new Map(
    resultSamples(result)
      .filter(({ stat }) => STATS.has(stat))
      .map(({ unit, measure, stat, value }) => {
        const labels = { scenario, fingerprint, measure, stat, unit };
        return [`${measure} ${stat} ${unit}`, { labels, value }] as const;
      })
      .reverse(),
  );
  return {
    name: LAST_RESULT,
    help: 'Result of the newest completed run of the scenario with this fingerprint, in the unit of the label.',
    type: 'gauge',
    samples: [...samples.values()].reverse(),
  };
}
