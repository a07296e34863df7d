import type { RequestHandler } from 'express';

/** 404 for every unknown path, with a reference to the landing page. */
export const notFound: RequestHandler = (_request, response) => {
  response.status(404).type('text/plain').send('Not found. See / for the available pages.\n');
};
