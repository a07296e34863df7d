import express from 'express';
import type { Express } from 'express';
import type { MetricsPage } from '../publish/metrics-page.ts';
import { failureHandler } from './failure.ts';
import { healthyRoute } from './healthy.ts';
import { landingRoute } from './landing.ts';
import { metricsRoute } from './metrics.ts';
import { notFound } from './not-found.ts';
import { readyRoute } from './ready.ts';

export interface RunAppOptions {
  readonly live: MetricsPage;
  readonly runId: string;
  readonly scenario: string;
  readonly version: string;
  /** Told of each scrape that has been answered, by the scraper's address. */
  readonly scraped?: (remoteAddress: string) => void;
  /** Told, in one line, of what cannot be answered. */
  readonly problem: (line: string) => void;
}

/** What a run answers while it lasts: its live metrics. */
export function createRunApp({ live, runId, scenario, version, scraped, problem }: RunAppOptions): Express {
  const app = express().disable('x-powered-by').disable('etag');
  const links = [
    { path: '/metrics', text: 'what this run measures, for Prometheus' },
    { path: '/-/healthy', text: 'whether this process answers' },
    { path: '/-/ready', text: 'whether it can be scraped' },
  ];
  const intro = `Run ${runId} of scenario ${scenario}. This page goes when the run ends.`;
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
