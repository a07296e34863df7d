import express from 'express';
import type { Express } from 'express';
import type { MetricsPage } from '../publish/metrics-page.ts';
import { allowedHost } from './allowed-host.ts';
import type { HostCheck } from './allowed-host.ts';
import { failureHandler } from './failure.ts';
import { healthyRoute } from './healthy.ts';
import { landingRoute } from './landing.ts';
import { metricsRoute } from './metrics.ts';
import { notFound } from './not-found.ts';
import { readingOnly } from './reading-only.ts';
import { readyRoute } from './ready.ts';

export interface RunAppOptions {
  readonly live: MetricsPage;
  readonly runId: string;
  readonly scenario: string;
  readonly version: string;
  /** Rejects requests from web pages of other origins. */
  readonly hostCheck: HostCheck;
  /** Called for each successful scrape, with the scraper's address. */
  readonly scraped?: (remoteAddress: string) => void;
  /** Receives one line for each request that fails. */
  readonly problem: (line: string) => void;
}

/** The routes of a run while it is running: its live metrics. */
export function createRunApp({ live, runId, scenario, version, hostCheck, scraped, problem }: RunAppOptions): Express {
  const app = express().disable('x-powered-by').disable('etag');
  const links = [
    { path: '/metrics', text: 'live metrics of this run, for Prometheus' },
    { path: '/-/healthy', text: 'liveness check' },
    { path: '/-/ready', text: 'readiness check' },
  ];
  const intro = `Run ${runId} of scenario ${scenario}. This page is available until the run ends.`;
  app.use(allowedHost(hostCheck));
  app.use(readingOnly);
  app.get('/', landingRoute({ title: 'llmbench run', intro, links, version }));
  app.get('/metrics', metricsRoute(live, scraped));
  app.get('/-/healthy', healthyRoute);
  app.get(
    '/-/ready',
    readyRoute(() => true),
  );
  app.use(notFound);
  app.use(failureHandler(problem));
  return app;
}
