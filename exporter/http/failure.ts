import type { ErrorRequestHandler } from 'express';

/** The answer when a route fails: 500 in one line without the reason, which may name paths, and the reason to `problem`. */
export function failureHandler(problem: (line: string) => void): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const reason = error instanceof Error ? error.message : String(error);
    problem(`${request.method} ${request.path} failed: ${reason}`);
    // Too late for another status: Express then breaks the connection off, which the scraper sees.
    if (response.headersSent) next(error);
    else response.status(500).type('text/plain').send('llmbench could not answer; its log says why.\n');
  };
}
