import type { StartedRun, StartsResponse } from '../../../core/api/service.ts';
import type { RequestHandler } from 'express';
import type { ScenarioStarts } from '../../starts/starts.ts';
import { readBody, textUpTo, sendJson } from './json-body.ts';
import { Problem } from '../problem.ts';
import { readQuery } from './query.ts';

const MAX_NAME = 200;
const RETRY_AFTER_SECONDS = 60;

/** `POST /runs`: starts a scenario of the file of allowed runs; nothing else of the request is part of the run. */
export function startRunRoute(starts: ScenarioStarts | null): RequestHandler {
  return (request, response) => {
    readQuery(request, {});
    if (starts === null) {
      throw new Problem(403, 'runs cannot be started; `llmbench serve --allow-runs FILE` names those that can');
    }
    const { scenario } = readBody(request, { scenario: textUpTo(MAX_NAME) });
    if (!starts.scenarios.includes(scenario)) {
      throw new Problem(404, `${scenario} is not a scenario that can be started; see ${request.baseUrl}/starts`);
    }
    const run = starts.start(scenario);
    if (run === null) {
      const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
      throw new Problem(503, 'too many runs wait; try again after one has ended', { headers });
    }
    response.status(202).set('Location', `${request.baseUrl}/starts/${run.run_id}`);
    response.set('Cache-Control', 'no-store').json(run);
  };
}

/** `GET /starts`: what can be started, and the newest runs that were. */
export function startsRoute(starts: ScenarioStarts | null): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    await sendJson<StartsResponse>(request, response, { scenarios: starts?.scenarios ?? [], runs: starts?.runs ?? [] });
  };
}

/** `GET /starts/{run_id}`: the state of a run that was started. */
export function startRoute(starts: ScenarioStarts | null): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const run = starts?.find(String(request.params['run_id'])) ?? null;
    if (run === null) throw new Problem(404, 'no run of that id was started here, or more than 100 have ended since');
    await sendJson<StartedRun>(request, response, run);
  };
}
