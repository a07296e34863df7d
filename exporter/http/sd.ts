import type { RequestHandler } from 'express';
import { targetGroups } from '../publish/http-sd.ts';
import type { RunSource } from '../publish/run-source.ts';

/**
 * `GET /sd`: the running runs and their servers, for Prometheus' `http_sd_configs`; an empty list when there are none.
 * `asked` is told of each request.
 */
export function sdRoute(source: Pick<RunSource, 'running'>, asked: () => void = () => undefined): RequestHandler {
  return async (_request, response) => {
    asked();
    const groups = targetGroups(await source.running());
    response.set('Cache-Control', 'no-store').json(groups);
  };
}
