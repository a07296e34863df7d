import type { RequestHandler } from 'express';
import { readServersFile } from '../../store/servers/read-servers-json.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { familySelector } from '../../publish/views/server-view.ts';
import { familyParameters } from './family-parameters.ts';
import { Problem } from './problem.ts';
import { readQuery } from './query.ts';
import { reading, requestedFinishedRun } from './requested-run.ts';
import { sendJson } from './send-json.ts';

/** `GET /runs/{run_id}/servers`: its servers.json, complete or limited to the selected series. */
export function runServersRoute(library: RunLibrary): RequestHandler {
  const parameters = familyParameters();
  return async (request, response) => {
    const query = readQuery(request, parameters);
    const { run, folder } = await requestedFinishedRun(request, library);
    const file = await reading(library, () => readServersFile(folder));
    if (file === null) throw new Problem(404, `no server metrics were collected for run ${run.run_id}`);
    const { family, quantity, target } = query;
    const chooses = family.length + quantity.length > 0;
    const select = familySelector(query);
    const series = file.series.filter((each) =>
      chooses ? select(each) !== null : target.length === 0 || target.includes(each.target),
    );
    await sendJson(request, response, { ...file, series });
  };
}
