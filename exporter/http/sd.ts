import type { RequestHandler } from 'express';
import { targetGroups } from '../publish/http-sd.ts';
import type { RunReader } from '../publish/run-reader.ts';

/**
 * `GET /sd`: the live runs and their servers, for Prometheus' `http_sd_configs`; an empty list if there are none.
 * `asked` is called on each request.
 */
export function sdRoute(source: Pick<RunReader, 'live'>, asked: () => void = () => undefined): RequestHandler {
  return async (_request, response) => {
    asked();
    const groups = targetGroups(await source.live());
    response.set('Cache-Control', 'no-store').json(groups);
  };
}
