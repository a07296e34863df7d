import type { RequestHandler } from 'express';
import { targetGroups } from '../publish/http-sd.ts';
import type { RunSource } from '../publish/run-source.ts';

/** `GET /sd`: the running runs and their servers, for Prometheus' `http_sd_configs`; an empty list when there are none. */
export function sdRoute(source: Pick<RunSource, 'running'>): RequestHandler {
  return async (_request, response) => {
    const groups = targetGroups(await source.running());
    response.set('Cache-Control', 'no-store').json(groups);
  };
}
