import type { RequestHandler } from 'express';
import { PAGE_PARTS, type PagePart } from '../publish/page-parts.ts';
import type { ResultMetrics } from '../publish/result-metrics.ts';
import { metricsRoute } from './metrics.ts';

/** The parameter by which Prometheus' exporters select a part of their page. */
const PARAMETER = 'collect[]';
const SELECTABLE: readonly PagePart[] = PAGE_PARTS.filter((part) => part !== 'all');

/**
 * `GET /metrics` of finished runs. `collect[]=current` is what changes, to be scraped often; `collect[]=results` the
 * numbers of all runs, to be scraped seldom. Without the parameter, or with both: the whole page.
 */
export function resultsRoute(results: ResultMetrics): RequestHandler {
  const routes = new Map(
    PAGE_PARTS.map((part) => [part, metricsRoute({ render: (accept) => results.renderPart(part, accept) })]),
  );
  return (request, response, next) => {
    const requested = [request.query[PARAMETER] ?? []].flat().map(String);
    const unknown = requested.find((part) => !SELECTABLE.some((each) => each === part));
    if (unknown !== undefined) {
      response.status(400).type('text/plain');
      response.send(`${PARAMETER} must be ${SELECTABLE.join(' or ')}; without it, the whole page is sent.\n`);
      return;
    }
    const parts = SELECTABLE.filter((part) => requested.includes(part));
    return routes.get(parts.length === 1 && parts[0] !== undefined ? parts[0] : 'all')?.(request, response, next);
  };
}
