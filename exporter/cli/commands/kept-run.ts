import type { PerformedRun } from '../../run/perform-run.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { RunNotStoredError } from '../../errors/store-errors.ts';
import type { GroupRun } from '../tables/group-table.ts';

/**
 * Performs a run and keeps it with those that are reported at the end. So is one that could not be stored: its result
 * needs no disk. Throws what performing throws.
 */
export async function keptRun(
  runs: GroupRun[],
  request: RunRequest,
  perform: (request: RunRequest) => Promise<PerformedRun>,
): Promise<PerformedRun> {
  try {
    const performed = await perform(request);
    runs.push({ request, performed });
    return performed;
  } catch (error) {
    if (error instanceof RunNotStoredError) {
      const { result, message } = error;
      runs.push({ request, performed: { result, failure: message, path: request.runsDirectory, notes: [] } });
    }
    throw error;
  }
}
