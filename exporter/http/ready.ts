import type { RequestHandler } from 'express';

/**
 * `GET /-/ready`: 200 if scrapes are served at once, 503 while the runs are still being read. `damaged` lists
 * unreadable runs, which do not affect readiness.
 */
export function readyRoute(isReady: () => boolean, damaged: () => readonly string[] = () => []): RequestHandler {
  return (_request, response) => {
    response.type('text/plain');
    if (isReady())
      response.send(['llmbench is ready.', ...damaged().map((run) => `run ${run} cannot be read.`), ''].join('\n'));
    else response.status(503).send('llmbench is still reading its runs.\n');
  };
}
