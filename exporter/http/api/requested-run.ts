import { setImmediate } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { isRunId } from '../../../core/run/run-id.ts';
import type { FoundRun, RunLibrary } from '../../publish/views/run-library.ts';
import { DamagedRunError, SchemaVersionError } from '../../errors/store-errors.ts';
import { StorageError } from '../../errors/storage-errors.ts';
import { Problem, wrongParameters } from '../problem.ts';

/** The run in the path. Throws a `Problem`: 400 for an invalid run id, 404 if the run does not exist. */
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
  throw new Problem(404, `run ${runId} does not exist`);
}

/** Like `requestedRun`, for data of finished runs only: 404 while the run is running. */
export async function requestedFinishedRun(request: Request, library: RunLibrary): Promise<FoundRun> {
  const found = await requestedRun(request, library);
  if (found.finished) return found;
  throw new Problem(404, `run ${found.run.run_id} has not ended: available after its end`);
}

/** Reads a file of a run; a damaged file becomes a `Problem` 422 without its path. */
export async function reading<T>(library: RunLibrary, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StorageError) throw new Problem(503, error.message);
    if (!(error instanceof DamagedRunError || error instanceof SchemaVersionError)) throw error;
    throw new Problem(422, withoutFolder(library, error.message));
  }
}

/** Where the runs are is not exposed over HTTP. */
export function withoutFolder(library: RunLibrary, text: string): string {
  return text.replaceAll(`${library.store.directory}/`, '');
}

/** After so many records the work pauses, so that short requests are not delayed by long ones. */
const RECORDS_AT_ONCE = 500;

/** The records for as long as the client waits for the response. Other requests are processed in between. */
export async function* whileConnected<T>(response: Response, records: AsyncIterable<T>): AsyncGenerator<T> {
  let n = 0;
  for await (const record of records) {
    yield record;
    n += 1;
    if (n % RECORDS_AT_ONCE !== 0) continue;
    await setImmediate();
    if (response.socket?.destroyed !== false) throw new Problem(503, 'the client has disconnected');
  }
}
