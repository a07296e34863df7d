import type { RequestHandler } from 'express';

/**
 * `GET /-/ready`: 200 when scrapes are answered at once, 503 while what they show is still being read. `damaged` are the
 * runs that cannot be read, which are told of and make nothing unready.
 */
export function readyRoute(isReady: () => boolean, damaged: () => readonly string[] = () => []): RequestHandler {
  return (_request, response) => {
    response.type('text/plain');
    if (isReady())
      response.send(['llmbench is ready.', ...damaged().map((run) => `run ${run} cannot be read.`), ''].join('\n'));
    else response.status(503).send('llmbench is still reading its runs.\n');
  };
}
