import express from 'express';
import type { Express } from 'express';
import type { ResultMetricsOptions } from '../publish/result-metrics.ts';
import { ResultMetrics } from '../publish/result-metrics.ts';
import { html } from '../report/html.ts';
import type { RunLibrary } from '../publish/views/run-library.ts';
import { allowedHost } from './allowed-host.ts';
import type { HostCheck } from './allowed-host.ts';
import { createApi } from './api/api.ts';
import { readCheck } from './api/token.ts';
import { failureHandler } from './failure.ts';
import { healthyRoute } from './healthy.ts';
import { landingRoute } from './landing.ts';
import { metricsRoute } from './metrics.ts';
import { notFound } from './not-found.ts';
import { readyRoute } from './ready.ts';
import { reportRoute } from './report.ts';
import { runsTable } from './runs-table.ts';
import { sdRoute } from './sd.ts';

export interface ServeAppOptions extends ResultMetricsOptions {
  /** What the API reads. */
  readonly library: RunLibrary;
  /** The token that the API asks for; null: none. */
  readonly token: string | null;
  /** Keeps web pages of others out. */
  readonly hostCheck: HostCheck;
  /** Told whenever somebody asks for the running runs. */
  readonly discoveryAsked?: () => void;
}

/**
 * What `llmbench serve` answers: the finished runs, the running ones for discovery, and itself. Begins to read the runs at
 * once; `problem` is told, in one line each, of what cannot be read or answered.
 */
export function createServeApp(options: ServeAppOptions): Express {
  const { source, library, version, token, problem, discoveryAsked, hostCheck } = options;
  const results = new ResultMetrics(options);
  for (const reading of [results.refresh(), library.overview()]) {
    reading.catch((error: unknown) => problem(error instanceof Error ? error.message : String(error)));
  }

  const mayRead = readCheck(token);
  const app = express().disable('x-powered-by').disable('etag');
  const links = [
    { path: '/metrics', text: 'exact results of the finished runs, for Prometheus' },
    { path: '/sd', text: 'running runs and the servers that they measure, for http_sd_configs' },
    { path: '/api/v1/openapi.yaml', text: 'what the API of runs answers, for programs' },
    { path: '/-/healthy', text: 'whether this process answers' },
    { path: '/-/ready', text: 'whether the runs have been read' },
  ];
  app.use('/api/v1', createApi(options));
  app.use(allowedHost(hostCheck));
  app.get(
    '/',
    landingRoute({
      title: 'llmbench',
      intro: 'Benchmarks of LLM inference servers, beside their own metrics.',
      links,
      version,
      content: async (request) =>
        mayRead(request)
          ? runsTable((await library.overview()).runs)
          : html`<p>The runs are shown with a token only.</p>`,
    }),
  );
  app.get('/runs/:run_id', reportRoute(library.store, mayRead));
  app.get('/metrics', metricsRoute(results));
  app.get('/sd', sdRoute(source, discoveryAsked));
  app.get('/-/healthy', healthyRoute);
  app.get(
    '/-/ready',
    readyRoute(
      () => results.loaded,
      () => results.damaged,
    ),
  );
  app.use(notFound);
  app.use(failureHandler(problem));
  return app;
}
