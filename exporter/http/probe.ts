import type { RequestHandler } from 'express';
import { CONTENT_TYPES, writePage } from '../../core/exposition/index.ts';
import { negotiateFormat } from '../publish/metrics-page.ts';
import { probeFamilies } from '../publish/probe-families.ts';
import type { ScenarioProbes } from '../starts/starts.ts';
import { Problem } from './problem.ts';

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
export function probeRoute(probes: ScenarioProbes): RequestHandler {
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
