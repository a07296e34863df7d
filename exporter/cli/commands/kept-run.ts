import type { DepartingRun } from '../../run/perform-run.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { RunNotStoredError } from '../../errors/store-errors.ts';
import type { GroupRun } from '../tables/group-table.ts';

/**
 * Performs a run and keeps it with those that are reported at the end; also one that could not be stored, whose result needs
 * no disk. Throws what performing throws.
 */
export async function keptRun(
  runs: GroupRun[],
  request: RunRequest,
  perform: (request: RunRequest) => Promise<DepartingRun>,
): Promise<DepartingRun> {
  try {
    const departing = await perform(request);
    const { result, failure, path, notes } = departing;
    runs.push({ request, performed: { result, failure, path, notes } });
    return departing;
  } catch (error) {
    if (error instanceof RunNotStoredError) runs.push(notStored(request, error));
    throw error;
  }
}

function notStored(request: RunRequest, { result, message }: RunNotStoredError): GroupRun {
  return { request, performed: { result, failure: message, path: request.runsDirectory, notes: [] } };
}
