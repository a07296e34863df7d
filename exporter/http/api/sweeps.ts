import type { SweepsResponse, StoredSweep } from '../../../core/api/sweeps.ts';
import type { DamagedRun } from '../../../core/api/service.ts';
import type { RequestHandler } from 'express';
import { sweepSummary } from '../../../core/sweeps/sweep-shape.ts';
import { runFilter } from '../../../core/api/run-list.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import type { RunSummary } from '../../../core/api/runs.ts';
import { storedSweeps, type SweptStore, type StoredSweeps } from '../../sweeps/stored-sweeps.ts';
import { Problem } from '../problem.ts';
import { integer, readQuery } from './query.ts';
import { withoutFolder } from './run.ts';
import { RUN_PARAMETERS } from './runs.ts';
import { sendJson } from './json-body.ts';

const PARAMETERS = { ...RUN_PARAMETERS, page: integer(1, 1_000_000, 1), limit: integer(1, 1000, 100) } as const;

/** `GET /sweeps`: what sweeps there are, paginated. */
export function sweepsRoute(library: RunLibrary, swept: SweptStore): RequestHandler {
  return async (request, response) => {
    const { page, limit, ...filter } = readQuery(request, PARAMETERS);
    const found = await sweepsOfLibrary(library, swept, runFilter(filter));
    const from = (page - 1) * limit;
    await sendJson<SweepsResponse>(request, response, {
      sweeps: found.sweeps.slice(from, from + limit).map(sweepSummary),
      ...{ page, limit, total: found.sweeps.length, omitted_runs: found.omitted },
      unreadable_runs: unreadableRuns(found, library),
    });
  };
}

/** `GET /sweeps/{sweep_id}`: one sweep with its steps. */
export function sweepRoute(library: RunLibrary, swept: SweptStore): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const id = String(request.params['sweep_id']);
    const found = await sweepsOfLibrary(library, swept, () => true);
    const sweep = found.sweeps.find(({ sweep_id }) => sweep_id === id);
    if (sweep === undefined) throw new Problem(404, `sweep ${JSON.stringify(id)} does not exist`);
    await sendJson<StoredSweep>(request, response, sweep);
  };
}

async function sweepsOfLibrary(
  library: RunLibrary,
  swept: SweptStore,
  fits: (run: RunSummary) => boolean,
): Promise<StoredSweeps> {
  const { runs } = await library.overview();
  return storedSweeps(
    swept,
    runs.filter((run) => run.status !== 'running' && fits(run)),
  );
}

function unreadableRuns({ unreadable }: StoredSweeps, library: RunLibrary): readonly DamagedRun[] {
  return [...unreadable].map(([run_id, reason]) => ({ run_id, reason: withoutFolder(library, reason) }));
}
