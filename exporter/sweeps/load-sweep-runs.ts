import { sweepRun, type SweepRun } from '../../core/sweeps/sweep-run.ts';
import { reasonOf } from '../errors/store-errors.ts';
import { readInBatches } from '../files/read-in-batches.ts';
import { readChanged } from '../store/index/read-changed.ts';
import type { RunStore } from '../store/run-store.ts';
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
