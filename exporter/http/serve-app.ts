import express from 'express';
import type { Express, RequestHandler } from 'express';
import type { ResultMetricsOptions } from '../publish/result-metrics.ts';
import { ResultMetrics } from '../publish/result-metrics.ts';
import type { ServiceStarts } from '../starts/service-starts.ts';
import { html } from '../report/html.ts';
import type { RunLibrary } from '../publish/views/run-library.ts';
import { allowedHost } from './allowed-host.ts';
import type { HostCheck } from './allowed-host.ts';
import { createApi } from './api/api.ts';
import { mayRead, requirePageRole, type Access } from './access/access.ts';
import { failureHandler } from './failure.ts';
import { healthyRoute } from './healthy.ts';
import { landingRoute } from './landing.ts';
import { notFound } from './not-found.ts';
import { probeRoute } from './probe.ts';
import { readyRoute } from './ready.ts';
import { readingOnly } from './reading-only.ts';
import { reportRoute } from './report.ts';
import { resultsRoute } from './results-route.ts';
import { runbookRoute } from './runbooks.ts';
import { runsTable } from './runs-table.ts';
import { sdRoute } from './sd.ts';

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
      () => results.damaged,
    ),
  );
  if (options.started !== undefined) {
    app.get('/probe', requirePageRole(access, 'start-runs'), probeRoute(options.started.probes));
  }
  if (access.protectsPages) app.use(requirePageRole(access, 'read'));
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
  app.use(failureHandler(problem));
  return app;
}
