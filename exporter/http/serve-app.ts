import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import express, { type RequestHandler, type Express } from 'express';
import { CONTENT_TYPES, writePage } from '../../core/exposition/index.ts';
import { isRunId } from '../../core/run/run-id.ts';
import { codeOf } from '../errors/expected-error.ts';
import { isFolder } from '../files/exists.ts';
import { NotRegularError, readRegularFile } from '../files/read-regular-file.ts';
import { negotiateFormat } from '../publish/metrics-page.ts';
import { PAGE_PARTS, type PagePart } from '../publish/page-parts.ts';
import { probeFamilies } from '../publish/service-families.ts';
import { ResultMetrics, type ResultMetricsOptions } from '../publish/result-metrics.ts';
import type { RunReader } from '../publish/run-reader.ts';
import { targetGroups } from '../publish/target-info.ts';
import type { RunLibrary } from '../publish/views/run-library.ts';
import { html } from '../report/html.ts';
import { REPORT_FILE } from '../report/write-report.ts';
import type { ScenarioProbes, ServiceStarts } from '../starts/starts.ts';
import type { RunStore } from '../store/run-store.ts';
import { mayRead, requireRole, type Access } from './access/access.ts';
import { allowedHost, type HostCheck } from './allowed-host.ts';
import { createApi } from './api/api.ts';
import { PAGE_POLICY, landingRoute, runsTable } from './landing.ts';
import { metricsRoute, healthyRoute, notFound, readingOnly, readyRoute } from './service-routes.ts';
import { Problem, problemHandler } from './problem.ts';

/** As Prometheus states it, in each scrape. */
const TIMEOUT_HEADER = 'X-Prometheus-Scrape-Timeout-Seconds';
/** Of a request without the header. */
const DEFAULT_TIMEOUT_SECONDS = 120;
const MAX_TIMEOUT_SECONDS = 3600;
/** For the response on its way, as in blackbox_exporter. */
const RESERVED_SECONDS = 0.5;

/**
 * `GET /probe?scenario=…`: runs a scenario that may be probed and responds with its results, in the multi-target pattern of
 * Prometheus' exporters. A browser must not start one for a page of another site, which needs no response to cause load.
 */
function probeRoute(probes: ScenarioProbes): RequestHandler {
  return async (request, response) => {
    if (request.method !== 'GET') {
      throw new Problem(405, 'Only GET is allowed.', { headers: { Allow: 'GET' } });
    }
    if (!['none', 'same-origin', undefined].includes(request.get('sec-fetch-site'))) {
      throw new Problem(403, 'Probes from pages of other sites are not allowed.');
    }
    const unknown = Object.keys(request.query).find((name) => name !== 'scenario');
    const name = request.query['scenario'];
    if (unknown !== undefined || typeof name !== 'string') {
      throw new Problem(400, 'The parameter scenario is required once, and no other is known.');
    }
    const scenario = probes.find(name);
    if (scenario === null) {
      throw new Problem(404, 'No scenario of that name can be probed: it must have `probe: true` in --allow-runs.');
    }
    const timeoutSeconds = Number(request.get(TIMEOUT_HEADER) ?? DEFAULT_TIMEOUT_SECONDS + RESERVED_SECONDS);
    if (!(timeoutSeconds > 0 && timeoutSeconds <= MAX_TIMEOUT_SECONDS)) {
      throw new Problem(400, `${TIMEOUT_HEADER} must be a number up to ${MAX_TIMEOUT_SECONDS}.`);
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const outcome = await probes.probe(scenario, Math.max(0, timeoutSeconds - RESERVED_SECONDS), gone.signal);
    if (outcome === null) {
      throw new Problem(503, 'Too many runs wait; the probe was not started.', { headers: { 'Retry-After': '10' } });
    }
    const format = negotiateFormat(request.get('accept'));
    response.set({ 'Content-Type': CONTENT_TYPES[format], 'Cache-Control': 'no-store', Vary: 'Accept' });
    response.end(writePage(probeFamilies(outcome), format));
  };
}

/** `GET /runs/{run_id}`: the HTML report of a finished run. */
function reportRoute(store: Pick<RunStore, 'pathOf' | 'wholePathOf'>, access: Access): RequestHandler {
  return async (request, response, next) => {
    const runId = String(request.params['run_id']);
    // What is sent depends on who asks.
    response.set({ 'Cache-Control': 'private, no-cache', Vary: 'Authorization' });
    if (!mayRead(access, request)) {
      throw new Problem(401, 'A token is required.', { headers: { 'WWW-Authenticate': 'Bearer' } });
    }
    const text =
      isRunId(runId) && isFolder(store.pathOf(runId)) ? await reportOf(await store.wholePathOf(runId)) : null;
    if (text === null) {
      next();
      return;
    }
    response.set({ 'Content-Security-Policy': PAGE_POLICY, 'X-Content-Type-Options': 'nosniff' });
    response.type('text/html').send(text);
  };
}

/** Null if the run has none. What is no regular file, such as a symbolic link to outside of the runs directory, is not served. */
async function reportOf(folder: string): Promise<string | null> {
  try {
    return await readRegularFile(join(folder, REPORT_FILE));
  } catch (error) {
    if (error instanceof NotRegularError || codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP') return null;
    throw error;
  }
}

const RUNBOOKS = new URL('../../docs/runbooks/', import.meta.url);
const PAGE = /^Llm[A-Za-z]+(?=\.md$)/;

/** `GET /runbooks/{alert}.md`: what to do when the alert fires. The alerts of `prometheus/alerts` link there. */
const runbookRoute: RequestHandler = async (request, response, next) => {
  const [alert] = PAGE.exec(String(request.params['page'])) ?? [];
  const text = alert === undefined ? null : await textOf(alert);
  if (text === null) {
    next();
    return;
  }
  response.set('X-Content-Type-Options', 'nosniff');
  response.type('text/plain').send(text);
};

/** Null if the alert has no runbook. */
async function textOf(alert: string): Promise<string | null> {
  try {
    return await readFile(new URL(`${alert}.md`, RUNBOOKS), 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

export interface ServeAppOptions extends ResultMetricsOptions {
  /** The runs that the API serves. */
  readonly library: RunLibrary;
  /** Who may do what. */
  readonly access: Access;
  /** What clients may start; absent: nothing. */
  readonly started?: ServiceStarts;
  /** Applied before any route, such as a sign-in. */
  readonly guard?: RequestHandler;
  /** Rejects requests from web pages of other origins. */
  readonly hostCheck: HostCheck;
  /** Why the runs that are shown may be old, for `/-/ready`; null if they are not. */
  readonly outdated?: () => string | null;
  /** Called on each request for the running runs. */
  readonly discoveryAsked?: () => void;
}

/**
 * The routes of `llmbench serve`: finished runs, running runs for discovery, and the service itself. Starts reading the
 * runs at once; `problem` receives one line for each run or request that fails.
 */
export function createServeApp(options: ServeAppOptions): Express {
  const { source, library, version, access, problem, discoveryAsked, hostCheck } = options;
  const results = new ResultMetrics(options);
  for (const reading of [results.refresh(), library.overview()]) {
    reading.catch((error: unknown) => problem(error instanceof Error ? error.message : String(error)));
  }

  // A proxy that grants access by path must not be bypassed with another spelling of it.
  const app = express().disable('x-powered-by').disable('etag').enable('case sensitive routing');
  const links = [
    { path: '/metrics', text: 'exact results of finished runs, for Prometheus' },
    { path: '/sd', text: 'running runs and the servers they measure, for http_sd_configs' },
    { path: '/api/v1/openapi.yaml', text: 'description of the HTTP API' },
    { path: '/-/healthy', text: 'liveness check' },
    { path: '/-/ready', text: 'readiness check: whether the runs have been read' },
  ];
  if (options.guard !== undefined) app.use(options.guard);
  app.use('/api/v1', createApi(options));
  app.use(allowedHost(hostCheck));
  app.use(readingOnly);
  app.get('/-/healthy', healthyRoute);
  app.get(
    '/-/ready',
    readyRoute(
      () => (results.loaded ? (options.outdated?.() ?? null) : 'llmbench is still reading its runs.'),
      () => results.damaged.map((run) => `run ${run} cannot be read.`),
    ),
  );
  if (options.started !== undefined) {
    app.get('/probe', requireRole(access, 'start-runs'), probeRoute(options.started.probes));
  }
  if (access.protectsPages) app.use(requireRole(access, 'read'));
  app.get(
    '/',
    landingRoute({
      title: 'llmbench',
      intro: 'Benchmarks of LLM inference servers and the metrics of these servers.',
      links,
      version,
      content: async (request) =>
        mayRead(access, request)
          ? runsTable((await library.overview()).runs)
          : html`<p>A token is required to list the runs.</p>`,
    }),
  );
  app.get('/runs/:run_id', reportRoute(library.store, access));
  app.get('/runbooks/:page', runbookRoute);
  app.get('/metrics', resultsRoute(results));
  app.get('/sd', sdRoute(source, discoveryAsked));
  app.use(notFound);
  app.use(problemHandler(problem, 'text'));
  return app;
}

/**
 * `GET /sd`: the live runs and their servers, for Prometheus' `http_sd_configs`; an empty list if there are none.
 * `asked` is called on each request.
 */
function sdRoute(source: Pick<RunReader, 'live'>, asked: () => void = () => undefined): RequestHandler {
  return async (_request, response) => {
    asked();
    const groups = targetGroups(await source.live());
    response.set('Cache-Control', 'no-store').json(groups);
  };
}

/** The parameter by which Prometheus' exporters select a part of their page. */
const PARAMETER = 'collect[]';
const SELECTABLE: readonly PagePart[] = PAGE_PARTS.filter((part) => part !== 'all');

/**
 * `GET /metrics` of finished runs. `collect[]=current` is what changes, to be scraped often; `collect[]=results` the
 * numbers of all runs, to be scraped seldom. Without the parameter, or with both: the whole page.
 */
function resultsRoute(results: ResultMetrics): RequestHandler {
  const routes = new Map(
    PAGE_PARTS.map((part) => [part, metricsRoute({ render: (accept) => results.renderPart(part, accept) })]),
  );
  return (request, response, next) => {
    const requested = [request.query[PARAMETER] ?? []].flat().map(String);
    const unknown = requested.find((part) => !SELECTABLE.some((each) => each === part));
    if (unknown !== undefined) {
      throw new Problem(400, `${PARAMETER} must be ${SELECTABLE.join(' or ')}; without it, the whole page is sent.`);
    }
    const parts = SELECTABLE.filter((part) => requested.includes(part));
    return routes.get(parts.length === 1 && parts[0] !== undefined ? parts[0] : 'all')?.(request, response, next);
  };
}
