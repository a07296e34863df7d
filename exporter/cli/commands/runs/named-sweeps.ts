import type { RunStore } from '../../../store/run-store.ts';
import { storedSweepRuns, sweepsOfRuns, type StoredSweeps } from '../../../sweeps/stored-sweeps.ts';
import { CliError, ExitCode } from '../../failure.ts';
import { indexedRuns } from './stored-runs.ts';

const SCENARIO = 'scenario:';

/** The sweeps with a name, and their runs. */
export interface NamedSweeps extends StoredSweeps {
  /** The group or the scenario. */
  readonly name: string;
  readonly runIds: readonly string[];
  /** Lines for people about runs that are missing in the sweeps. */
  readonly notes: readonly string[];
}

/**
 * The sweeps of a group, by its id, or of `scenario:NAME`. Null if the name is that of a run, or of nothing. Throws a
 * `CliError` when no run of a group or scenario has a load that is one number.
 */
export async function namedSweeps(store: RunStore, name: string): Promise<NamedSweeps | null> {
  const runs = await indexedRuns(store);
  if (runs.some(({ run_id }) => run_id === name)) return null;
  const scenario = name.startsWith(SCENARIO) ? name.slice(SCENARIO.length) : null;
  const members = runs.filter((run) => (scenario === null ? run.group_id === name : run.scenario === scenario));
  if (members.length === 0) {
    if (scenario === null) return null;
    throw new CliError(
      `no run of scenario ${JSON.stringify(scenario)} in ${store.place}; \`llmbench runs\` lists them`,
    );
  }
  const runIds = members.map(({ run_id }) => run_id);
  // A group of repeats at one load has a table of one row; a scenario is a sweep only with several.
  const found = await sweepsOfRuns(storedSweepRuns(store), runIds, scenario === null ? 1 : 2);
  if (found.sweeps.length === 0) {
    const why =
      [...found.unreadable.values()][0] ??
      'no two runs differ in nothing but a number of requests in flight or per second';
    throw new CliError(`${name} is not a sweep: ${why}`, ExitCode.failed);
  }
  return { ...found, name: scenario ?? name, runIds, notes: notesOf(found) };
}

function notesOf({ unreadable, omitted }: StoredSweeps): string[] {
  return [
    ...[...unreadable].map(([id, reason]) => `${id} is left out: ${reason}`),
    ...(omitted > 0 ? [`${omitted} older runs are left out`] : []),
  ];
}
