import type { ScenariosResponse, ScenarioSummary } from '../../../core/api/scenarios.ts';
import type { RequestHandler } from 'express';
import type { ScenarioState } from '../../judge/scenario-state.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { scenarioSummaries } from '../../publish/views/scenario-summaries.ts';
import { integer, readQuery } from './query.ts';
import { sendJson } from './send-json.ts';

/** What the routes on scenarios read. */
export interface ScenarioSource {
  readonly library: RunLibrary;
  readonly scenarioStates: () => Promise<readonly ScenarioState[]>;
  readonly expectedScenarios: ReadonlyMap<string, number>;
}

const PARAMETERS = { page: integer(1, 1_000_000, 1), limit: integer(1, 1000, 100) } as const;

/** `GET /scenarios`: where each scenario stands, paginated. */
export function scenariosRoute(source: ScenarioSource): RequestHandler {
  return async (request, response) => {
    const { page, limit } = readQuery(request, PARAMETERS);
    const all = await summariesOf(source);
    const from = (page - 1) * limit;
    await sendJson<ScenariosResponse>(request, response, {
      scenarios: all.slice(from, from + limit),
      page,
      limit,
      total: all.length,
    });
  };
}

export async function summariesOf({
  library,
  scenarioStates,
  expectedScenarios,
}: ScenarioSource): Promise<readonly ScenarioSummary[]> {
  const { runs } = await library.overview();
  return scenarioSummaries(runs, await scenarioStates(), expectedScenarios, new Date());
}
