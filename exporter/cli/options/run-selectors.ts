import type { IndexedRun } from '../../store/index/rows.ts';
import { selectRuns } from '../../store/index/select-runs.ts';
import type { RunStore } from '../../store/run-store.ts';
import { indexedRuns, selecting } from '../commands/runs/stored-runs.ts';

/** How runs are selected, for the help of commands. */
export const SELECTOR_HELP =
  'RUNS is a list with commas of run ids (or unique prefixes, or `latest`), scenario:NAME, tag:TAG,\n' +
  'group:ID and last:N; `+` combines conditions: scenario:chat+last:6 is the last 6 runs of the scenario\n' +
  'chat.\n';

/** The readable finished runs that a selector names, oldest first, each once. Throws a `CliError`. */
export async function selectedRuns(store: RunStore, selector: string): Promise<readonly IndexedRun[]> {
  const all = await indexedRuns(store);
  return selecting(store, () => selectRuns(all, selector));
}
