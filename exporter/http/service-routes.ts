import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { Problem } from './problem.ts';

/**
 * Accepts GET and HEAD without a body, before anything of a body is read; other requests get 405 or 400 and their connection
 * is closed. Browsers do not guess the type of any response.
 */
export const readingOnly: RequestHandler = (request, response, next) => {
  response.set('X-Content-Type-Options', 'nosniff');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const headers = { Allow: 'GET, HEAD', Connection: 'close' };
    throw new Problem(405, `${request.method} is not allowed here`, { headers });
  }
  if (announcesBody(request)) {
    throw new Problem(400, 'a request to read has no body', { headers: { Connection: 'close' } });
  }
  next();
};

function announcesBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** `GET /-/healthy`: 200 while the process responds. */
export const healthyRoute: RequestHandler = (_request, response) => {
  response.type('text/plain').send('llmbench is healthy.\n');
};

/**
 * `GET /-/ready`: 200 if scrapes are served at once and show the runs, 503 with `whyNot`. `notes` are lines about what does
 * not affect readiness: unreadable runs.
 */
export function readyRoute(whyNot: () => string | null, notes: () => readonly string[] = () => []): RequestHandler {
  return (_request, response) => {
    response.type('text/plain');
    const reason = whyNot();
    if (reason === null) response.send(['llmbench is ready.', ...notes(), ''].join('\n'));
    else response.status(503).send(`${reason}\n`);
  };
}

/** 404 for every unknown path, with a reference to the landing page. */
export const notFound: RequestHandler = () => {
  throw new Problem(404, 'Not found. See / for the available pages.');
};
