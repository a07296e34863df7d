import type { StoredSweep } from '../../core/api/sweeps.ts';
import { createHash } from 'node:crypto';
import { searchedSweep, sweepsOf } from '../../core/sweeps/sweep.ts';
import { readCapacity } from '../store/scenarios/capacity-files.ts';
import type { SweptStore } from './load-sweep-runs.ts';

/** Of one look: the newest are read. */
const MAX_RUNS = 2000;
const ID_LENGTH = 16;

export interface StoredSweeps {
  /** The newest first. */
  readonly sweeps: readonly StoredSweep[];
  /** Runs that cannot be read, with the reason. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** Older runs that may belong to a sweep and were not read. */
  readonly omitted: number;
}

/** What a list of runs says of each. */
export interface PossibleRun {
  readonly run_id: string;
  readonly scenario: string | null;
  readonly group_id: string | null;
  /** The load in words; null: unknown. */
  readonly load: string | null;
}

/** The sweeps of these runs; those of a search for a capacity with its response. `leastLoads`: see `sweepsOf`. */
export async function sweepsOfRuns(
  { directory, load }: SweptStore,
  runIds: readonly string[],
  leastLoads = 2,
): Promise<StoredSweeps> {
  const { runs, unreadable } = await load(runIds.slice(0, MAX_RUNS));
  const found = sweepsOf(runs, leastLoads).map(({ key, sweep }) => ({ sweep_id: idOf(key), ...sweep }));
  const sweeps = await Promise.all(found.map((sweep) => withAnswer(directory, sweep)));
  return { sweeps, unreadable, omitted: Math.max(0, runIds.length - MAX_RUNS) };
}

/** The sweeps among finished runs, given newest first. Only runs that can belong to one are read, at most 2,000. */
export function storedSweeps(store: SweptStore, listed: readonly PossibleRun[]): Promise<StoredSweeps> {
  return sweepsOfRuns(
    store,
    withSeveralLoads(listed).map(({ run_id }) => run_id),
  );
}

/** The file of a search that cannot be read changes nothing: the runs have verdicts of their own. */
async function withAnswer(directory: string, sweep: StoredSweep): Promise<StoredSweep> {
  const { source, scenario } = sweep;
  if (source.kind !== 'group') return sweep;
  const capacity = await readCapacity(directory, scenario, source.name).catch(() => null);
  return capacity === null ? sweep : searchedSweep(sweep, capacity);
}

const idOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, ID_LENGTH);

/** The runs whose group or scenario has two loads or more. */
function withSeveralLoads(listed: readonly PossibleRun[]): readonly PossibleRun[] {
  const loads = new Map<string, Set<string>>();
  const keysOf = ({ scenario, group_id }: PossibleRun): string[] => [
    ...(scenario === null ? [] : [`scenario ${scenario}`]),
    ...(group_id === null ? [] : [`group ${group_id}`]),
  ];
  for (const run of listed) {
    if (run.load === null) continue;
    for (const key of keysOf(run)) loads.set(key, (loads.get(key) ?? new Set()).add(run.load));
  }
  return listed.filter((run) => run.load !== null && keysOf(run).some((key) => (loads.get(key)?.size ?? 0) > 1));
}
