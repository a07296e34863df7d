import type { Express, RequestHandler } from 'express';
import express from 'express';
import type { MetricsPage } from '../publish/metrics-page.ts';
import { html } from '../report/html.ts';
import { allowedHost, isLoopback, type HostCheck } from './allowed-host.ts';
import { landingRoute } from './landing.ts';
import { healthyRoute, notFound, readingOnly, readyRoute, metricsRoute } from './service-routes.ts';
import { problemHandler } from './problem.ts';

interface RunAppOptions {
  readonly live: MetricsPage;
  /** The runs whose metrics the page has now. */
  readonly runs: () => readonly { readonly runId: string; readonly scenario: string }[];
  readonly version: string;
  /** Applied before any route, such as a sign-in. */
  readonly guard?: RequestHandler;
  /** Rejects requests from web pages of other origins. */
  readonly hostCheck: HostCheck;
  /** Called for each successful scrape, with the scraper's address. */
  readonly scraped?: (remoteAddress: string) => void;
  /** Receives one line for each request that fails. */
  readonly problem: (line: string) => void;
}

/** The routes of runs while they are running: their live metrics. */
export function createRunApp({ live, runs, version, guard, hostCheck, scraped, problem }: RunAppOptions): Express {
  const app = express().disable('x-powered-by').disable('etag');
  const links = [
    { path: '/metrics', text: 'live metrics, for Prometheus' },
    { path: '/-/healthy', text: 'liveness check' },
    { path: '/-/ready', text: 'readiness check' },
  ];
  const intro = 'This page is available until the command ends.';
  const content = () =>
    Promise.resolve(html`${runs().map(({ runId, scenario }) => html`<p>Run ${runId} of scenario ${scenario}.</p>`)}`);
  if (guard !== undefined) app.use(guard);
  app.use(allowedHost(hostCheck));
  app.use(readingOnly);
  app.get('/', landingRoute({ title: 'llmbench run', intro, links, version, content }));
  // On this machine compression saves nothing: it takes the processor and a turn of the event loop from the measurement.
  const compresses = (remoteAddress: string): boolean => !isLoopback(remoteAddress);
  app.get('/metrics', metricsRoute(live, { compresses, ...(scraped === undefined ? {} : { scraped }) }));
  app.get('/-/healthy', healthyRoute);
  app.get(
    '/-/ready',
    readyRoute(() => null),
  );
  app.use(notFound);
  app.use(problemHandler(problem, 'text'));
  return app;
}
