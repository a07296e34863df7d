import type { RequestHandler } from 'express';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { runZero } from '../../publish/views/run-zero.ts';
import { readServerSamples } from '../../publish/views/server-samples.ts';
import { QUANTITY_NAMES, seriesViews, wantedFamilies } from '../../publish/views/server-view.ts';
import { familyParameters } from './family-parameters.ts';
import { Problem, wrongParameters } from './problem.ts';
import { integer, readQuery } from './query.ts';
import { reading, requestedFinishedRun } from './requested-run.ts';
import { sendJson } from './send-json.ts';

/** `GET /runs/{run_id}/series`: the metrics of its servers over time. */
export function runSeriesRoute(library: RunLibrary): RequestHandler {
  const parameters = { ...familyParameters(), points: integer(2, 10_000, 1000) } as const;
  return async (request, response) => {
    const { points, ...query } = readQuery(request, parameters);
    if (query.family.length + query.quantity.length === 0) {
      const allowed = QUANTITY_NAMES();
      throw wrongParameters([
        { name: 'family', value: null, allowed: ['the name of a family, unless a quantity is given'] },
        { name: 'quantity', value: null, allowed },
      ]);
    }
    const { run } = await requestedFinishedRun(request, library);
    const samples = await reading(library, async () =>
      readServerSamples(await library.store.wholePathOf(run.run_id), run.start, wantedFamilies(query)),
    );
    if (samples === null) throw new Problem(404, `no server metrics were collected for run ${run.run_id}`);
    const series = seriesViews(samples, query, points);
    await sendJson(request, response, { run_id: run.run_id, zero: runZero(run), series });
  };
}
