import type { RequestHandler } from 'express';

/** 404 for every address that is no route, with the way to the list of those that are. */
export const notFound: RequestHandler = (_request, response) => {
  response.status(404).type('text/plain').send('There is nothing here. What there is stands at /\n');
};
