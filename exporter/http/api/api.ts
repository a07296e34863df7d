import express from 'express';
import type { Express } from 'express';
import { cachedFigures } from '../../judge/load-figures.ts';
import type { ScenarioState } from '../../judge/scenario-state.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import type { ServiceStarts } from '../../starts/starts.ts';
import { cachedSweepRuns } from '../../sweeps/stored-sweeps.ts';
import { requireRole, type Access } from '../access/access.ts';
import { allowedHost, type HostCheck } from '../allowed-host.ts';
import { noSuchRoute, problemHandler } from '../problem.ts';
import { readingOnly } from '../service-routes.ts';
import { compareRoute } from './compare.ts';
import { limitInFlight } from './in-flight.ts';
import { jsonBody } from './json-body.ts';
import { openapiRoute, SCHEMA_PATHS, schemaRoute, statusRoute } from './meta.ts';
import { overviewRoute } from './overview.ts';
import {
  changeTagsRoute,
  runDistributionRoute,
  runRecordsRoute,
  runRoute,
  runSeriesRoute,
  runServersRoute,
} from './run.ts';
import { annotationsRoute, runsRoute, valuesRoute } from './runs.ts';
import { changeBaselineRoute, scenarioRoute, scenariosRoute } from './scenarios.ts';
import { startRoute, startRunRoute, startsRoute } from './starts.ts';
import { sweepRoute, sweepsRoute } from './sweeps.ts';

export interface ApiOptions {
  readonly library: RunLibrary;
  readonly version: string;
  /** Who may do what. */
  readonly access: Access;
  /** What the judge decided. Unless given: nothing was judged. */
  readonly scenarioStates?: () => Promise<readonly ScenarioState[]>;
  /** How often a scenario is expected to complete, in seconds, by its name. */
  readonly expectedScenarios?: ReadonlyMap<string, number>;
  /** Rejects requests from web pages of other origins. */
  readonly hostCheck: HostCheck;
  /** What clients may start; absent: nothing. */
  readonly started?: ServiceStarts;
  /** Receives one line for each request that fails. */
  readonly problem: (line: string) => void;
}

/** Each may keep all records of a run in memory. */
const MAX_READINGS = 4;
/** More than a page that overlays runs requests at once. */
const MAX_WAITING = 200;

/** `/api/v1`, as described by schemas/openapi.yaml. */
export function createApi(options: ApiOptions): Express {
  const { library, version, access, hostCheck, problem } = options;
  const { scenarioStates = nothingJudged, expectedScenarios = new Map<string, number>() } = options;
  const scenarios = { library, scenarioStates, expectedScenarios };
  const load = cachedFigures(library.store);
  const swept = cachedSweepRuns(library.store);
  const api = express().disable('x-powered-by').disable('etag').enable('case sensitive routing');
  api.use(allowedHost(hostCheck));
  const mayWrite = requireRole(access, 'write-baseline');
  api.post('/scenarios/:name/baseline', mayWrite, jsonBody, changeBaselineRoute(library));
  api.post('/runs/:run_id/tags', requireRole(access, 'annotate'), jsonBody, changeTagsRoute(library));
  const starts = options.started?.starts ?? null;
  api.post('/runs', requireRole(access, 'start-runs'), jsonBody, startRunRoute(starts));
  api.use(readingOnly);
  api.use(requireRole(access, 'read'));
  api.get('/status', statusRoute(library, version, access));
  api.get('/overview', overviewRoute(scenarios));
  api.get('/runs', runsRoute(library));
  api.get('/runs/:run_id', runRoute(library));
  api.get('/runs/:run_id/servers', runServersRoute(library));
  const limited = limitInFlight({ maxInFlight: MAX_READINGS, maxWaiting: MAX_WAITING });
  api.get('/runs/:run_id/records', limited, runRecordsRoute(library));
  api.get('/runs/:run_id/distribution', limited, runDistributionRoute(library));
  api.get('/runs/:run_id/series', limited, runSeriesRoute(library));
  api.get('/compare', limited, compareRoute(library, load));
  api.get('/scenarios', scenariosRoute(scenarios));
  api.get('/scenarios/:name', limited, scenarioRoute(scenarios, load));
  api.get('/sweeps', limited, sweepsRoute(library, swept));
  api.get('/sweeps/:sweep_id', limited, sweepRoute(library, swept));
  api.get('/starts', startsRoute(starts));
  api.get('/starts/:run_id', startRoute(starts));
  api.get('/annotations', annotationsRoute(library));
  api.get('/values/:name', valuesRoute(library));
  api.get('/openapi.yaml', openapiRoute);
  api.get(SCHEMA_PATHS, schemaRoute);
  api.use(noSuchRoute);
  api.use(problemHandler(problem));
  return api;
}

const nothingJudged = (): Promise<readonly ScenarioState[]> => Promise.resolve([]);
