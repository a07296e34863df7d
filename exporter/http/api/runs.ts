import type { RequestHandler } from 'express';
import { listRuns, SORT_ORDERS } from '../../../core/api/run-list.ts';
import type { RunsResponse } from '../../../core/api/runs.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { choice, integer, readQuery } from './query.ts';
import { RUN_PARAMETERS } from './run-parameters.ts';
import { sendJson } from './send-json.ts';

const PARAMETERS = {
  ...RUN_PARAMETERS,
  sort: choice(SORT_ORDERS, '-start'),
  page: integer(1, 1_000_000, 1),
  limit: integer(1, 1000, 100),
} as const;

/** `GET /runs`: runs with their key figures, paginated. */
export function runsRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const query = readQuery(request, PARAMETERS);
    const { runs } = await library.overview();
    await sendJson<RunsResponse>(request, response, listRuns(runs, query));
  };
}
