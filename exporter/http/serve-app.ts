import express from 'express';
import type { Express, RequestHandler } from 'express';
import { targetGroups } from '../publish/target-info.ts';
import { PAGE_PARTS, type PagePart } from '../publish/page-parts.ts';
import { ResultMetrics, type ResultMetricsOptions } from '../publish/result-metrics.ts';
import type { RunReader } from '../publish/run-reader.ts';
import type { RunLibrary } from '../publish/views/run-library.ts';
import { html } from '../report/html.ts';
import type { ServiceStarts } from '../starts/starts.ts';
import { mayRead, requireRole, type Access } from './access/access.ts';
import { allowedHost } from './allowed-host.ts';
import type { HostCheck } from './allowed-host.ts';
import { createApi } from './api/api.ts';
import { landingRoute } from './landing.ts';
import { metricsRoute } from './metrics.ts';
import { probeRoute } from './probe.ts';
import { Problem, problemHandler } from './problem.ts';
import { reportRoute } from './report.ts';
import { runbookRoute } from './runbooks.ts';
import { runsTable } from './runs-table.ts';
import { healthyRoute, notFound, readingOnly, readyRoute } from './service-routes.ts';

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
  /** Lines about the service for `/-/ready`. */
  readonly notes?: () => readonly string[];
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
      () => results.loaded,
      () => [...(options.notes?.() ?? []), ...results.damaged.map((run) => `run ${run} cannot be read.`)],
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
