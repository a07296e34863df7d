import type { ErrorRequestHandler } from 'express';

/**
 * The response if a route fails: 500 in one line without the reason, which may name paths; the reason goes to
 * `problem`.
 */
export function failureHandler(problem: (line: string) => void): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (error instanceof URIError) {
      response.status(400).type('text/plain').send('The URL is malformed.\n');
      return;
    }
    const reason = error instanceof Error ? error.message : String(error);
    problem(`${request.method} ${request.path} failed: ${reason}`);
    // The headers are sent: Express closes the connection, which the scraper detects.
    if (response.headersSent) next(error);
    else response.status(500).type('text/plain').send('Internal error; see the log of llmbench.\n');
  };
}
