import { createHash } from 'node:crypto';
import type { StoredSweep } from '../../core/api/sweeps.ts';
import { OUTCOMES } from '../../core/run/record.ts';
import { SWEEP_FIGURES } from '../../core/sweeps/sweep-figures.ts';
import { sweepNames } from '../../core/sweeps/sweep-names.ts';
import type { Sweep } from '../../core/sweeps/sweep-shape.ts';
import { searchedSweep, sweepsOf, sweepRun, type SweepRun } from '../../core/sweeps/sweep.ts';
import { reasonOf } from '../errors/expected-error.ts';
import { readInBatches } from '../files/read-regular-file.ts';
import type { ExportRow, RowColumn } from '../store/export/run-rows.ts';
import { readChanged } from '../store/index/read-changed.ts';
import type { RunStore } from '../store/run-store.ts';
import { readCapacity } from '../store/scenarios/capacity-files.ts';
import { readFinishedRunFile, readResultFile } from '../store/sealed/read-run-files.ts';

/** A run has about 4 kB in memory. */
const MAX_CACHED = 5000;

export interface LoadedSweepRuns {
  /** Without those whose load is not one number. */
  readonly runs: readonly SweepRun[];
  /** Runs that are gone or cannot be read, with the reason. */
  readonly unreadable: ReadonlyMap<string, string>;
}

/** A runs directory whose finished runs are read for sweeps. */
export interface SweptStore {
  readonly directory: string;
  readonly load: (runIds: readonly string[]) => Promise<LoadedSweepRuns>;
}

/** Reads every run from its files. */
export function storedSweepRuns(store: RunStore): SweptStore {
  const pairOf = async (id: string) => [id, await readRun(store, id)] as const;
  return { directory: store.directory, load: async (runIds) => split(await readInBatches(runIds, pairOf)) };
}

/** For a long-lived process: a run is read again only when its files have changed. */
export function cachedSweepRuns(store: RunStore): SweptStore {
  const read = readChanged(store, MAX_CACHED, {
    read: (id) => readRun(store, id),
    isKept: (run) => typeof run !== 'string',
  });
  return { directory: store.directory, load: async (runIds) => split([...(await read(runIds))]) };
}

/** Null for a run whose load is not one number; the reason if it cannot be read. */
async function readRun(store: RunStore, runId: string): Promise<SweepRun | string | null> {
  const folder = store.endedPathOf(runId);
  try {
    return sweepRun(await readFinishedRunFile(folder), await readResultFile(folder));
  } catch (error) {
    return reasonOf(error);
  }
}

function split(read: readonly (readonly [string, SweepRun | string | null])[]): LoadedSweepRuns {
  return {
    runs: read.flatMap(([, run]) => (run === null || typeof run === 'string' ? [] : [run])),
    unreadable: new Map(read.flatMap(([id, run]) => (typeof run === 'string' ? [[id, run] as const] : []))),
  };
}

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

const TEXTS = ['name', 'source', 'load_mode'] as const;
const STATISTICS = ['min', 'max', 'n'] as const;

/** The columns of a step: each figure's mean under its name, then `…_min`, `…_max` and `…_n` over the repeats. */
export const STEP_COLUMNS: readonly RowColumn[] = [
  ...TEXTS.map((name) => ({ name, kind: 'string' as const })),
  { name: 'load', kind: 'double' },
  { name: 'runs', kind: 'double' },
  { name: 'objective', kind: 'string' },
  ...OUTCOMES.map((name) => ({ name, kind: 'double' as const })),
  ...SWEEP_FIGURES.flatMap((figure) =>
    [figure, ...STATISTICS.map((statistic) => `${figure}_${statistic}`)].map((name) => ({
      name,
      kind: 'double' as const,
    })),
  ),
];

/** A row per load of each sweep. */
export async function* stepRows(sweeps: readonly Sweep[]): AsyncGenerator<ExportRow> {
  const names = sweepNames(sweeps);
  for (const [i, { source, load_mode, steps }] of sweeps.entries()) {
    for (const { load, runs, objective, requests, values } of steps) {
      yield await Promise.resolve({
        ...{ name: names[i], source: source.name, load_mode, load, runs: runs.length, objective, ...requests },
        ...Object.fromEntries(
          SWEEP_FIGURES.flatMap((figure) => [
            [figure, values[figure]?.mean ?? null],
            ...STATISTICS.map((statistic) => [`${figure}_${statistic}`, values[figure]?.[statistic] ?? null]),
          ]),
        ),
      });
    }
  }
}
