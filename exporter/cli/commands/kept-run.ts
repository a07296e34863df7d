import type { DepartingRun } from '../../run/perform-run.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { RunNotStoredError } from '../../errors/store-errors.ts';
import type { GroupRun } from '../tables/group-table.ts';

/**
 * Performs a run and keeps it with those that are reported at the end. So is one that could not be stored, at once or
 * after its departure: its result needs no disk. Throws what performing throws.
 */
export async function keptRun(
  runs: GroupRun[],
  request: RunRequest,
  perform: (request: RunRequest) => Promise<DepartingRun>,
): Promise<DepartingRun> {
  try {
    const { departure, ...performed } = await perform(request);
    const place = runs.push({ request, performed }) - 1;
    const kept = departure.catch((error: unknown) => {
      if (error instanceof RunNotStoredError) runs[place] = notStored(request, error);
      throw error;
    });
    // The caller that waits for it gets the error.
    kept.catch(() => undefined);
    return { ...performed, departure: kept };
  } catch (error) {
    if (error instanceof RunNotStoredError) runs.push(notStored(request, error));
    throw error;
  }
}

function notStored(request: RunRequest, { result, message }: RunNotStoredError): GroupRun {
  return { request, performed: { result, failure: message, path: request.runsDirectory, notes: [] } };
}
