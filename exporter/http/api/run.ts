import type { RunResponse } from '../../../core/api/runs.ts';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { codeOf } from '../../errors/store-errors.ts';
import { readQuery } from './query.ts';
import { reading, requestedRun } from './requested-run.ts';
import { sendJson } from './send-json.ts';

/** `GET /runs/{run_id}`: its run.json and result.json. */
export function runRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const { run, summary, folder, finished } = await requestedRun(request, library);
    const result = finished ? await reading(library, () => library.store.readResult(run.run_id)) : null;
    const has_servers = await exists(join(folder, 'servers.json'));
    await sendJson<RunResponse>(request, response, { summary, run, result, has_servers });
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
