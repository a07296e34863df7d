import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';

/**
 * Accepts GET and HEAD without a body, before anything of a body is read; other requests get 405 or 400 in plain text and
 * their connection is closed. Browsers do not guess the type of any response.
 */
export const readingOnly: RequestHandler = (request, response, next) => {
  response.set('X-Content-Type-Options', 'nosniff');
  const refuse = (status: number, line: string): void => {
    response.status(status).set('Connection', 'close').type('text/plain').send(`${line}\n`);
  };
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.set('Allow', 'GET, HEAD');
    refuse(405, 'Only GET and HEAD are allowed.');
  } else if (announcesBody(request)) {
    refuse(400, 'A request to read has no body.');
  } else next();
};

export function announcesBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
