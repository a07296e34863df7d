import type { RequestHandler } from 'express';
import type { Access } from '../access/access.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { readQuery } from './query.ts';
import { sendJson } from './send-json.ts';

const MOST_DAMAGED = 100;

/** `GET /status`: availability and version of the API, and its number of runs. */
export function statusRoute(library: RunLibrary, version: string, access: Access): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const { runs, damaged } = await library.overview();
    const running = runs.filter(({ status }) => status === 'running').length;
    await sendJson(request, response, {
      version,
      api_version: 'v1',
      runs: { finished: runs.length - running, running, damaged: damaged.length },
      damaged: damaged.slice(0, MOST_DAMAGED),
      allows_baseline_changes: access.offers(request, 'write-baseline'),
      roles: [...access.roles(request)].sort(),
    });
  };
}
