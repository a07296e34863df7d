import { reasonOf } from '../errors/store-errors.ts';
import type { RunStore } from '../store/run-store.ts';
import type { RunFigures } from './run-figures.ts';
import { figuresOfRun } from './figures-of-run.ts';

/** Keeps a disk busy and stays far below the limit of open files. */
const READ_AT_ONCE = 16;

export interface LoadedFigures {
  /** In the order of the ids. */
  readonly runs: readonly RunFigures[];
  /** Runs that are gone or cannot be read, with the reason. */
  readonly unreadable: ReadonlyMap<string, string>;
}

/** A run that is required and cannot be read. */
export class UnreadableRunError extends Error {
  override readonly name = 'UnreadableRunError';

  constructor(runId: string, reason: string) {
    super(`${runId} cannot be read: ${reason}`);
  }
}

/** Reads the figures of stored runs, all of which are required. Throws an `UnreadableRunError`. */
export async function readFigures(store: RunStore, runIds: readonly string[]): Promise<readonly RunFigures[]> {
  const { runs, unreadable } = await loadFigures(store, runIds);
  for (const [id, reason] of unreadable) throw new UnreadableRunError(id, reason);
  return runs;
}

/** Reads the figures of stored runs. */
export async function loadFigures(store: RunStore, runIds: readonly string[]): Promise<LoadedFigures> {
  const runs: RunFigures[] = [];
  const unreadable = new Map<string, string>();
  for (let i = 0; i < runIds.length; i += READ_AT_ONCE) {
    const some = runIds.slice(i, i + READ_AT_ONCE);
    const read = await Promise.all(some.map((id) => figuresOf(store, id)));
    for (const [at, result] of read.entries()) {
      if (typeof result === 'string') unreadable.set(some[at] ?? '', result);
      else runs.push(result);
    }
  }
  return { runs, unreadable };
}

async function figuresOf(store: RunStore, runId: string): Promise<RunFigures | string> {
  try {
    return figuresOfRun(await store.readRun(runId), await store.readResult(runId));
  } catch (error) {
    return reasonOf(error);
  }
}
