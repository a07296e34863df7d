import express from 'express';
import type { Express } from 'express';
import type { ResultMetricsOptions } from '../publish/result-metrics.ts';
import { ResultMetrics } from '../publish/result-metrics.ts';
import { failureHandler } from './failure.ts';
import { healthyRoute } from './healthy.ts';
import { landingRoute } from './landing.ts';
import { metricsRoute } from './metrics.ts';
import { notFound } from './not-found.ts';
import { readyRoute } from './ready.ts';
import { sdRoute } from './sd.ts';

export interface ServeAppOptions extends ResultMetricsOptions {
  /** Told whenever somebody asks for the running runs. */
  readonly discoveryAsked?: () => void;
}

/**
 * What `llmbench serve` answers: the finished runs, the running ones for discovery, and itself. Begins to read the runs at
 * once; `problem` is told, in one line each, of what cannot be read or answered.
 */
export function createServeApp(options: ServeAppOptions): Express {
  const { source, version, problem, discoveryAsked } = options;
  const results = new ResultMetrics(options);
  results.refresh().catch((error: unknown) => problem(error instanceof Error ? error.message : String(error)));

  const app = express().disable('x-powered-by').disable('etag');
  const links = [
    { path: '/metrics', text: 'exact results of the finished runs, for Prometheus' },
    { path: '/sd', text: 'running runs and the servers that they measure, for http_sd_configs' },
    { path: '/-/healthy', text: 'whether this process answers' },
    { path: '/-/ready', text: 'whether the runs have been read' },
  ];
  app.get(
    '/',
    landingRoute({
      title: 'llmbench',
      intro: 'Benchmarks of LLM inference servers, beside their own metrics.',
      links,
      version,
    }),
  );
  app.get('/metrics', metricsRoute(results));
  app.get('/sd', sdRoute(source, discoveryAsked));
  app.get('/-/healthy', healthyRoute);
  app.get(
    '/-/ready',
    readyRoute(() => results.loaded),
  );
  app.use(notFound);
  app.use(failureHandler(problem));
  return app;
}
