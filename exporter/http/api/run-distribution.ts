import type { DistributionResponse } from '../../../core/api/run-data.ts';
import type { RequestHandler } from 'express';
import type { DistributionMeasure } from '../../../core/measures/measures.ts';
import {
  DISTRIBUTION_NAMES,
  distributionMeasure,
  distributionView,
  hasPopulationAll,
  readsChunks,
  TooManyValuesError,
} from '../../publish/views/distribution-view.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { Problem, wrongParameters } from '../problem.ts';
import { choice, integer, readQuery } from './query.ts';
import type { Query } from './query.ts';
import { reading, requestedFinishedRun, whileConnected } from './requested-run.ts';
import { sendJson } from './send-json.ts';

const PARAMETERS = {
  measure: choice(DISTRIBUTION_NAMES, undefined),
  clock: choice(['sent', 'due'], null),
  population: choice(['ok', 'all'], 'ok'),
  points: integer(2, 100_000, 1000),
} as const;

/** `GET /runs/{run_id}/distribution`: the exact distribution of a measure. */
export function runDistributionRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const query = readQuery(request, PARAMETERS);
    const measure = requestedMeasure(query);
    const { run } = await requestedFinishedRun(request, library);
    try {
      const records = whileConnected(
        response,
        library.store.readRecords(run, { withoutChunks: !readsChunks(measure) }),
      );
      const view = await reading(library, () => distributionView(records, measure, query.population, query.points));
      await sendJson<DistributionResponse>(request, response, { run_id: run.run_id, ...view });
    } catch (error) {
      if (!(error instanceof TooManyValuesError)) throw error;
      throw new Problem(422, `${error.message}; its result has the percentiles with bounds`);
    }
  };
}

function requestedMeasure({ measure: name, clock, population }: Query<typeof PARAMETERS>): DistributionMeasure {
  const measure = distributionMeasure(name, clock);
  if (measure === undefined) {
    throw wrongParameters([{ name: 'clock', value: clock, allowed: [clock === 'due' ? 'sent' : 'due'] }]);
  }
  if (population === 'all' && !hasPopulationAll(measure)) {
    throw wrongParameters([{ name: 'population', value: population, allowed: ['ok'] }]);
  }
  return measure;
}
