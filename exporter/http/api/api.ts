import { readFile } from 'node:fs/promises';
import express, { type Request, type RequestHandler, type Response, type Express } from 'express';
import type { StatusResponse } from '../../../core/api/service.ts';
import { cachedFigures } from '../../judge/load-figures.ts';
import type { ScenarioState } from '../../judge/scenario-state.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import type { ServiceStarts } from '../../starts/starts.ts';
import { cachedSweepRuns } from '../../sweeps/stored-sweeps.ts';
import { requireRole, type Access } from '../access/access.ts';
import { allowedHost, type HostCheck } from '../allowed-host.ts';
import { Problem, noSuchRoute, problemHandler } from '../problem.ts';
import { readingOnly } from '../service-routes.ts';
import { compareRoute } from './compare.ts';
import { sendJson, jsonBody } from './json-body.ts';
import { overviewRoute, changeBaselineRoute, scenarioRoute, scenariosRoute } from './scenarios.ts';
import { readQuery } from './query.ts';
import {
  changeTagsRoute,
  runDistributionRoute,
  runRecordsRoute,
  runRoute,
  runSeriesRoute,
  runFirstTokenTimeRoute,
  runServersRoute,
} from './run.ts';
import { annotationsRoute, runsRoute, valuesRoute } from './runs.ts';
import { startRoute, startRunRoute, startsRoute } from './starts.ts';
import { sweepRoute, sweepsRoute } from './sweeps.ts';

const RETRY_AFTER_SECONDS = 1;

export interface InFlightLimits {
  /** Responses that are processed at a time; one client gets all but one of these places. */
  readonly maxInFlight: number;
  /** Further ones that wait in order; those beyond get 503, as do those that wait for longer than `maxWait_ms`. */
  readonly maxWaiting: number;
  /** Less than a connection may be idle. */
  readonly maxWait_ms?: number;
  /** A client that receives its response more slowly, in bytes per second, is disconnected. */
  readonly minBytesPerSecond?: number;
  /** The time over which that is measured, in milliseconds. */
  readonly window_ms?: number;
}

interface Waiting {
  readonly peer: string;
  /** Whether the connection was ended, of which its response may not know yet. */
  readonly isGone: () => boolean;
  readonly begin: () => void;
}

/**
 * Limits responses that need much memory. A client that disconnects frees its place, and one that does not read its
 * response loses it.
 */
export function limitInFlight({
  maxInFlight,
  maxWaiting,
  maxWait_ms = 60_000,
  minBytesPerSecond = 16 * 1024,
  window_ms = 5000,
}: InFlightLimits): RequestHandler {
  const inFlight = new Map<string, number>();
  let total = 0;
  const waiting: Waiting[] = [];
  const maxOfPeer = Math.max(1, maxInFlight - 1);
  const hasPlace = (peer: string): boolean => total < maxInFlight && (inFlight.get(peer) ?? 0) < maxOfPeer;
  const count = (peer: string, change: 1 | -1): void => {
    total += change;
    const now = (inFlight.get(peer) ?? 0) + change;
    if (now === 0) inFlight.delete(peer);
    else inFlight.set(peer, now);
  };
  const beginNext = (): void => {
    const following = waiting.findIndex((each) => !each.isGone() && hasPlace(each.peer));
    if (following >= 0) waiting.splice(following, 1)[0]?.begin();
  };
  return (request, response, next) => {
    const peer = peerOf(request);
    if (!hasPlace(peer) && waiting.length >= maxWaiting) throw tooMany(maxInFlight + maxWaiting);
    let stopWatching: (() => void) | null = null;
    const overdue = setTimeout(() => {
      leaveQueue();
      next(tooMany(maxInFlight + waiting.length));
    }, maxWait_ms).unref();
    const own: Waiting = {
      peer,
      isGone: () => request.socket.destroyed,
      begin() {
        clearTimeout(overdue);
        count(peer, 1);
        stopWatching = disconnectSlowReader(response, (minBytesPerSecond * window_ms) / 1000, window_ms);
        next();
      },
    };
    const leaveQueue = (): void => {
      clearTimeout(overdue);
      const place = waiting.indexOf(own);
      if (place >= 0) waiting.splice(place, 1);
    };
    response.once('close', () => {
      if (stopWatching === null) leaveQueue();
      else {
        stopWatching();
        count(peer, -1);
        // Later: clients often disconnect together, and nothing is processed for one that is about to be seen gone.
        setImmediate(beginNext);
      }
    });
    if (hasPlace(peer)) own.begin();
    else waiting.push(own);
  };
}

const tooMany = (requests: number): Problem =>
  new Problem(503, `${requests} requests of this kind are in progress; try again`, {
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  });

const peerOf = (request: Request): string => request.socket.remoteAddress ?? 'unknown';

/** Ends the connection if less than `minBytes` of the response leave this process per window. Returns how to stop. */
function disconnectSlowReader(response: Response, minBytes: number, window_ms: number): () => void {
  let sent: number | null = null;
  const timer = setInterval(() => {
    // Until the response begins, the client waits for this process.
    if (!response.headersSent) return;
    const now = response.socket?.bytesWritten ?? 0;
    if (sent !== null && now - sent < minBytes) response.destroy();
    sent = now;
  }, window_ms);
  timer.unref();
  return () => clearInterval(timer);
}

const SCHEMAS = new URL('../../../schemas/', import.meta.url);

/** `GET /openapi.yaml`: the description of this API. */
const openapiRoute: RequestHandler = async (_request, response) => {
  response.type('application/yaml').send(await readFile(new URL('openapi.yaml', SCHEMAS), 'utf8'));
};

/** The schemas that the description references, or that these reference. */
const REFERRED = ['run', 'result', 'servers', 'comparison', 'verdict', 'baseline'] as const;

const SCHEMA_PATHS = REFERRED.map((name) => `/${name}.schema.json`);

/** `GET /<name>.schema.json`: a JSON Schema referenced by the description. */
const schemaRoute: RequestHandler = async (request, response) => {
  const name = REFERRED.find((each) => request.path === `/${each}.schema.json`) ?? 'run';
  response.type('application/schema+json').send(await readFile(new URL(`${name}.schema.json`, SCHEMAS), 'utf8'));
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
  api.get('/runs/:run_id/first-token-time', runFirstTokenTimeRoute(library));
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
