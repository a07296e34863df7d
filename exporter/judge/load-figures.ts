import { isRunId } from '../../core/run/run-id.ts';
import { reasonOf } from '../errors/store-errors.ts';
import { readInBatches } from '../files/read-in-batches.ts';
import { stampsOf } from '../store/index/stamps.ts';
import { resultFilePath, runFilePath } from '../store/run-paths.ts';
import type { RunStore } from '../store/run-store.ts';
import { readFinishedRunFile, readResultFile } from '../store/sealed/read-run-files.ts';
import { figuresOfRun } from './figures-of-run.ts';
import type { RunFigures } from './run-figures.ts';

/** A run has some 15 kB of figures in memory. */
const MOST_CACHED = 3000;

export interface LoadedFigures {
  /** In the order of the ids. */
  readonly runs: readonly RunFigures[];
  /** Runs that are gone or cannot be read, with the reason. */
  readonly unreadable: ReadonlyMap<string, string>;
}

/** Reads the figures of finished runs. */
export type LoadFigures = (runIds: readonly string[]) => Promise<LoadedFigures>;

/** A run that is required and cannot be read. */
export class UnreadableRunError extends Error {
  override readonly name = 'UnreadableRunError';

  constructor(runId: string, reason: string) {
    super(`${runId} cannot be read: ${reason}`);
  }
}

/** Reads the figures of stored runs, all of which are required. Throws an `UnreadableRunError`. */
export async function readFigures(load: LoadFigures, runIds: readonly string[]): Promise<readonly RunFigures[]> {
  const { runs, unreadable } = await load(runIds);
  for (const [id, reason] of unreadable) throw new UnreadableRunError(id, reason);
  return runs;
}

/** From the files of a store. */
export function storedFigures(store: RunStore): LoadFigures {
  return (runIds) => readAll(store, runIds);
}

/** The same for a long-lived process: a run is read again only when its files have changed. */
export function cachedFigures(store: RunStore): LoadFigures {
  const known = new Map<string, { readonly stamp: string; readonly read: RunFigures | string }>();
  return async (runIds) => {
    const valid = [...new Set(runIds)].filter(isRunId);
    const runStamps = await stampsOf(valid, (id) => runFilePath(store.pathOf(id)));
    const resultStamps = await stampsOf(valid, (id) => resultFilePath(store.pathOf(id)));
    const stampOf = (id: string): string => `${runStamps.get(id) ?? ''} ${resultStamps.get(id) ?? ''}`;
    const changed = valid.filter((id) => known.get(id)?.stamp !== stampOf(id));
    const loaded = await readAll(store, changed);
    const byId = new Map(loaded.runs.map((run) => [run.run_id, run]));
    const found = new Map<string, RunFigures | string>();
    for (const id of valid) {
      const kept = known.get(id);
      const read = byId.get(id) ?? loaded.unreadable.get(id) ?? kept?.read ?? '';
      found.set(id, read);
      // At the end: the least recently used are in front.
      known.delete(id);
      known.set(id, { stamp: stampOf(id), read });
    }
    for (const id of [...known.keys()].slice(0, Math.max(0, known.size - MOST_CACHED))) known.delete(id);
    return sorted(runIds.map((id) => [id, found.get(id) ?? NO_RUN_ID]));
  };
}

const NO_RUN_ID = 'it is not a run id';

async function readAll(store: RunStore, runIds: readonly string[]): Promise<LoadedFigures> {
  return sorted(await readInBatches(runIds, async (id) => [id, await figuresOf(store, id)] as const));
}

function sorted(read: readonly (readonly [string, RunFigures | string])[]): LoadedFigures {
  return {
    runs: read.flatMap(([, result]) => (typeof result === 'string' ? [] : [result])),
    unreadable: new Map(read.flatMap(([id, result]) => (typeof result === 'string' ? [[id, result] as const] : []))),
  };
}

async function figuresOf(store: RunStore, runId: string): Promise<RunFigures | string> {
  if (!isRunId(runId)) return NO_RUN_ID;
  const folder = store.pathOf(runId);
  try {
    return figuresOfRun(await readFinishedRunFile(folder), await readResultFile(folder));
  } catch (error) {
    return reasonOf(error);
  }
}
