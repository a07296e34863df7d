import type { Request } from 'express';
import { isRunId } from '../../../core/run/run-id.ts';
import type { FoundRun, RunLibrary } from '../../publish/views/run-library.ts';
import { DamagedRunError, SchemaVersionError } from '../../store/store-errors.ts';
import { Problem, wrongParameters } from './problem.ts';

/** The run that the path names. Throws a `Problem`: 400 for what is no run id, 404 when there is none. */
export async function requestedRun(request: Request, library: RunLibrary): Promise<FoundRun> {
  const runId = String(request.params['run_id']);
  if (!isRunId(runId)) {
    const allowed = ['a run id of 1 to 64 characters [0-9A-Za-z-]'];
    throw wrongParameters([{ name: 'run_id', value: runId, allowed }]);
  }
  const found = await library.find(runId);
  if (found !== null) return found;
  const { damaged } = await library.overview();
  const damage = damaged.find(({ run_id }) => run_id === runId);
  if (damage !== undefined) throw new Problem(422, `run ${runId} cannot be read: ${damage.reason}`);
  throw new Problem(404, `there is no run ${runId}`);
}

/** As `requestedRun`, for what only finished runs have: 404 while it lasts. */
export async function requestedFinishedRun(request: Request, library: RunLibrary): Promise<FoundRun> {
  const found = await requestedRun(request, library);
  if (found.finished) return found;
  throw new Problem(404, `run ${found.run.run_id} has not ended: this is there when it has`);
}

/** Reads a file of a run; a damaged one becomes a `Problem` 422 that does not say where the runs are. */
export async function reading<T>(library: RunLibrary, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DamagedRunError || error instanceof SchemaVersionError)) throw error;
    throw new Problem(422, error.message.replaceAll(`${library.store.directory}/`, ''));
  }
}
