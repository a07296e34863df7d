import type { AnnotationsResponse, ValueName, ValuesResponse, Annotation, RunSummary } from '../../../core/api/runs.ts';
import type { FamilyQuery, SeriesResponse } from '../../../core/api/run-data.ts';
import type { StatusResponse } from '../../../core/api/service.ts';
import type { ServersFile } from '../../../core/run/servers-file.ts';
import express from 'express';
import type { Express, RequestHandler } from 'express';
import { cachedFigures } from '../../judge/load-figures.ts';
import type { ScenarioState } from '../../judge/scenario-state.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { cachedSweepRuns } from '../../sweeps/load-sweep-runs.ts';
import { requireRole, type Access } from '../access/access.ts';
import type { ServiceStarts } from '../../starts/service-starts.ts';
import type { HostCheck } from '../allowed-host.ts';
import { announcesBody } from '../reading-only.ts';
import { changeBaselineRoute } from './change-baseline.ts';
import { changeTagsRoute } from './change-tags.ts';
import { compareRoute } from './compare.ts';
import { limitInFlight } from './in-flight.ts';
import { jsonBody } from './json-body.ts';
import { openapiRoute, SCHEMA_PATHS, schemaRoute } from './openapi.ts';
import { noSuchRoute, Problem, problemHandler, wrongParameters } from '../problem.ts';
import { runDistributionRoute } from './run-distribution.ts';
import { runRecordsRoute } from './run-records.ts';
import { runRoute } from './run.ts';
import { runsRoute } from './runs.ts';
import { scenarioRoute } from './scenario.ts';
import { scenariosRoute } from './scenarios.ts';
import { startRoute, startRunRoute, startsRoute } from './starts.ts';
import { sweepRoute, sweepsRoute } from './sweeps.ts';
import { readQuery, integer, choices, texts } from './query.ts';
import { sendJson } from './send-json.ts';
import { readServersFile } from '../../store/servers/read-servers-json.ts';
import { familySelector, QUANTITY_NAMES, seriesViews, wantedFamilies } from '../../publish/views/server-view.ts';
import { reading, requestedFinishedRun } from './requested-run.ts';
import { runZero } from '../../publish/views/run-zero.ts';
import { readServerSamples } from '../../publish/views/server-samples.ts';
import { phaseAnnotations, runAnnotation, stageAnnotations } from '../../publish/views/annotations.ts';
import { runFilter } from '../../../core/api/run-list.ts';
import { RUN_PARAMETERS } from './run-parameters.ts';

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
  api.use(onlyAllowedHosts(hostCheck));
  const mayWrite = requireRole(access, 'write-baseline');
  api.post('/scenarios/:name/baseline', mayWrite, jsonBody, changeBaselineRoute(library));
  api.post('/runs/:run_id/tags', requireRole(access, 'annotate'), jsonBody, changeTagsRoute(library));
  const starts = options.started?.starts ?? null;
  api.post('/runs', requireRole(access, 'start-runs'), jsonBody, startRunRoute(starts));
  api.use(onlyReading);
  api.use(requireRole(access, 'read'));
  api.get('/status', statusRoute(library, version, access));
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

function onlyAllowedHosts(check: HostCheck): RequestHandler {
  return (request, response, next) => {
    response.set('X-Content-Type-Options', 'nosniff');
    const refusal = check({ headers: request.headers, rawHeaders: request.rawHeaders, url: request.originalUrl });
    if (refusal !== null) throw new Problem(403, refusal);
    next();
  };
}

const onlyReading: RequestHandler = (request, _response, next) => {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new Problem(405, `${request.method} is not allowed here`, {
      headers: { Allow: 'GET, HEAD', Connection: 'close' },
    });
  }
  if (announcesBody(request)) {
    throw new Problem(400, 'a request to read has no body', { headers: { Connection: 'close' } });
  }
  next();
};

const MAX_DAMAGED = 100;

/** `GET /status`: availability and version of the API, and its number of runs. */
function statusRoute(library: RunLibrary, version: string, access: Access): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const { runs, damaged } = await library.overview();
    const running = runs.filter(({ status }) => status === 'running').length;
    await sendJson<StatusResponse>(request, response, {
      version,
      api_version: 'v1',
      runs: { finished: runs.length - running, running, damaged: damaged.length },
      damaged: damaged.slice(0, MAX_DAMAGED),
      allows_baseline_changes: access.offers(request, 'write-baseline'),
      roles: [...access.roles(request)].sort(),
    });
  };
}

/** `GET /runs/{run_id}/servers`: its servers.json, complete or limited to the selected series. */
function runServersRoute(library: RunLibrary): RequestHandler {
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
    await sendJson<ServersFile>(request, response, { ...file, series });
  };
}

/** `GET /runs/{run_id}/series`: the metrics of its servers over time. */
function runSeriesRoute(library: RunLibrary): RequestHandler {
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
    await sendJson<SeriesResponse>(request, response, { run_id: run.run_id, zero: runZero(run), series });
  };
}

/** The parameters that select server families; their values form a `FamilyQuery`. */
const familyParameters = () =>
  ({
    family: texts(),
    quantity: choices(QUANTITY_NAMES()),
    target: texts(),
  }) as const satisfies Record<keyof FamilyQuery, unknown>;

const KINDS = ['run', 'phase', 'stage'] as const;

const PARAMETERS = {
  ...RUN_PARAMETERS,
  kind: choices(KINDS),
  limit: integer(1, 1000, 200),
} as const;

/** `GET /annotations`: runs, their phases and the stages of their loads as regions of time, the newest run first. */
function annotationsRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const { kind, limit, ...filter } = readQuery(request, PARAMETERS);
    const wanted = kind.length === 0 ? KINDS : kind;
    const { runs } = await library.overview();
    const fitting = runs.filter(runFilter(filter)).filter(({ start }) => start !== null);
    const annotations = fitting.slice(0, limit).flatMap((run): Annotation[] => {
      const region = wanted.includes('run') ? runAnnotation(run) : null;
      return [
        ...(region === null ? [] : [region]),
        ...(wanted.includes('phase') ? phaseAnnotations(run) : []),
        ...(wanted.includes('stage') ? stageAnnotations(run) : []),
      ];
    });
    await sendJson<AnnotationsResponse>(request, response, { annotations, total: fitting.length });
  };
}

/** The filterable fields of runs and the values of a run for each. */
const VALUES: Readonly<Record<ValueName, (run: RunSummary) => readonly (string | null)[]>> = {
  scenarios: ({ scenario }) => [scenario],
  models: ({ model }) => [model],
  systems: ({ system }) => [system],
  tools: ({ tool }) => [tool],
  tags: ({ tags }) => tags,
  statuses: ({ status }) => [status],
  verdicts: ({ verdict }) => [verdict?.verdict ?? null],
  groups: ({ group_id }) => [group_id],
};

const VALUE_NAMES = Object.keys(VALUES) as ValueName[];

/** `GET /values/{name}`: the existing values, each with its number of runs. */
function valuesRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    const name = String(request.params['name']);
    const found = VALUE_NAMES.find((each) => each === name);
    if (found === undefined) throw wrongParameters([{ name: 'name', value: name, allowed: VALUE_NAMES }]);
    const fits = runFilter(readQuery(request, RUN_PARAMETERS));
    const { runs } = await library.overview();
    const counts = new Map<string, number>();
    for (const value of runs.filter(fits).flatMap(VALUES[found])) {
      if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const values = [...counts].map(([value, count]) => ({ value, runs: count }));
    await sendJson<ValuesResponse>(request, response, {
      name: found,
      values: values.sort((a, b) => (a.value < b.value ? -1 : 1)),
    });
  };
}
