import type { RequestHandler } from 'express';
import { overviewOf } from '../../../core/api/overview.ts';
import type { ScenarioSummary } from '../../../core/api/scenarios.ts';
import { integer, readQuery } from './query.ts';
import { type ScenarioSource, summariesOf } from './scenarios.ts';
import { sendJson } from './json-body.ts';

const PARAMETERS = { limit: integer(1, 100, 20) } as const;

/** `GET /overview`: what a home page shows, in one response. */
export function overviewRoute(source: ScenarioSource): RequestHandler {
  return async (request, response) => {
    const { limit } = readQuery(request, PARAMETERS);
    const [{ runs }, scenarios] = await Promise.all([source.library.overview(), summariesOf(source)]);
    await sendJson<ReturnType<typeof overviewOf<ScenarioSummary>>>(
      request,
      response,
      overviewOf(runs, scenarios, limit),
    );
  };
}
