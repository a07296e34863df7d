import type { RequestHandler } from 'express';

/** `GET /-/ready`: 200 when scrapes are answered at once, 503 while what they show is still being read. */
export function readyRoute(isReady: () => boolean): RequestHandler {
  return (_request, response) => {
    response.type('text/plain');
    if (isReady()) response.send('llmbench is ready.\n');
    else response.status(503).send('llmbench is still reading its runs.\n');
  };
}
